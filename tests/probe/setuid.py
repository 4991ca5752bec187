# SPDX-License-Identifier: Apache-2.0
"""A setuid program, started by another user, is left alone."""
import os
import shutil
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    program = folder + "/hazards"
    shutil.copy(os.path.join(sys.argv[1], "lowtide_hazards"), program)
    os.chmod(program, 0o4755)

    def become_nobody():
        os.setgid(65534)
        os.setuid(65534)

    child = subprocess.run([program, "environment"], env={"AS": "nobody"}, cwd="/",
                           preexec_fn=become_nobody, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    print(child.returncode, child.stdout)
