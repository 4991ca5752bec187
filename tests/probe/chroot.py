# SPDX-License-Identifier: Apache-2.0
"""A child in a root where the probe does not exist must not hear of it."""
import os
import shutil
import subprocess
import sys
import tempfile

program = os.path.join(sys.argv[1], "lowtide_hazards")
with tempfile.TemporaryDirectory() as root:
    libraries = [word for word in subprocess.run(["ldd", program], stdout=subprocess.PIPE,
                 text=True).stdout.split() if word.startswith("/") and "lowtide" not in word]
    for path in libraries:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy(program, root + "/hazards")
    child = subprocess.run(["/hazards", "environment"], env={"IN": "chroot"},
                           preexec_fn=lambda: os.chroot(root), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    print(child.returncode, child.stdout)
