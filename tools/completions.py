#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the completions of bash, zsh and fish from one list.

    completions.py FOLDER            writes lowtide.bash, _lowtide and lowtide.fish
    completions.py --check PROGRAM   fails where the list and PROGRAM's own help differ
"""
import pathlib
import re
import subprocess
import sys

# What completes an option's value, or a positional word.
FILE, TIDE, NOTHING, COMMAND = "file", "tide", "nothing", "command"

# command: (what it does, what its words are, {option: (what it says, its value or None)})
COMMANDS = {
    "run": ("Start a command, watch it to its end, say what was found", COMMAND, {
        "--interval": ("Time between samples", NOTHING),
        "--round": ("A pattern in the line a round prints", NOTHING),
        "--out": ("File of the recording", FILE),
        "--json": ("Write what was found to this file", FILE),
        "--heap": ("Heap snapshots: auto, off or a number", "auto off"),
        "--no-probe": ("Load nothing into the command", None),
        "--contents": ("Keep short excerpts of strings", None),
        "--quiet": ("Say nothing at the end", None),
    }),
    "plot": ("Memory over time, as a picture or in the terminal", TIDE, {
        "--out": ("x.png or x.svg", FILE),
        "--dark": ("On a dark ground", None),
    }),
    "report": ("Say again what a run found", TIDE, {
        "--json": ("As JSON", None),
    }),
    "heap": ("What is in the heap, by type", TIDE, {
        "--snapshot": ("Which heap of the recording", NOTHING),
        "--type": ("Only this type, object by object", NOTHING),
        "--by": ("Order", "retained count growth"),
        "--show": ("A Python expression of o", NOTHING),
        "--limit": ("Time for --show", NOTHING),
        "--most": ("Rows at most", NOTHING),
        "--json": ("As JSON", None),
        "--contents": ("Take excerpts of strings", None),
    }),
    "holders": ("Who keeps an object alive", TIDE, {
        "--snapshot": ("Which heap of the recording", NOTHING),
        "--type": ("Of objects of this type", NOTHING),
        "--object": ("Of the object at this address", NOTHING),
        "--suspect": ("Of suspect 1, 2, ...", NOTHING),
        "--most": ("Ways of holding at most", NOTHING),
        "--svg": ("Draw the references to this file", FILE),
        "--png": ("Draw the references to this file", FILE),
        "--json": ("As JSON", None),
    }),
    "diff": ("What grew between two heaps", TIDE, {
        "--most": ("Rows at most", NOTHING),
        "--json": ("As JSON", None),
    }),
}


def bash():
    lines = ["# Completion of lowtide for bash.", "_lowtide() {",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
             "  local command=${COMP_WORDS[1]} i", "  COMPREPLY=()",
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
             f"    COMPREPLY=($(compgen -W '{' '.join(COMMANDS)} --help --version' -- \"$word\"))",
             "    return", "  fi",
             "  # After -- another program's own completion takes over.",
             "  for ((i = 2; i < COMP_CWORD; i++)); do",
             "    if [ \"${COMP_WORDS[i]}\" = -- ]; then",
             "      declare -F _command_offset >/dev/null && _command_offset $((i + 1)) && return",
             "      COMPREPLY=($(compgen -cf -- \"$word\"))", "      return", "    fi", "  done",
             "  case $command:$before in"]
    for command, (_, _, options) in COMMANDS.items():
        for option, (_, value) in options.items():
            if value == FILE:
                lines.append(f"    {command}:{option}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;")
            elif value == NOTHING:
                lines.append(f"    {command}:{option}) return ;;")
            elif value:
                lines.append(f"    {command}:{option}) "
                             f"COMPREPLY=($(compgen -W '{value}' -- \"$word\")); return ;;")
    lines += ["  esac", "  case $command in"]
    for command, (_, words, options) in COMMANDS.items():
        files = "" if words == COMMAND else (
            " $(compgen -d -- \"$word\") $(compgen -f -X '!*.tide' -- \"$word\")")
        all_words = " ".join([*options, "--help"] + (["--"] if words == COMMAND else []))
        lines.append(f"    {command}) COMPREPLY=($(compgen -W '{all_words}' -- \"$word\"){files}) ;;")
    lines += ["  esac", "}", "complete -o filenames -F _lowtide lowtide", ""]
    return "\n".join(lines)


def zsh_quoted(text):
    return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", "\\:")


def zsh():
    lines = ["#compdef lowtide", "_lowtide() {", "  local -a commands", "  commands=("]
    lines += [f"    '{name}:{zsh_quoted(does)}'" for name, (does, _, _) in COMMANDS.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return",
              "  fi", "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))",
              "  case $command in"]
    for command, (_, words, options) in COMMANDS.items():
        lines.append(f"    {command})")
        lines.append("      _arguments \\")
        for option, (says, value) in options.items():
            action = {None: "", FILE: ":file:_files", NOTHING: ":value: "}.get(
                value, f":value:({value})")
            lines.append(f"        '{option}[{zsh_quoted(says)}]{action}' \\")
        if words == COMMAND:
            lines.append("        '*::command: _normal'")
        else:
            lines.append("        '*:recording:_files -g \"*.tide(-.)\"'")
        lines.append("      ;;")
    lines += ["  esac", "}", "_lowtide \"$@\"", ""]
    return "\n".join(lines)


def fish():
    lines = ["# Completion of lowtide for fish.",
             "complete -c lowtide -n __fish_use_subcommand -l version -d 'Print the version'"]
    for command, (does, words, options) in COMMANDS.items():
        quoted = does.replace("'", "\\'")
        lines.append(f"complete -c lowtide -f -n __fish_use_subcommand -a {command} -d '{quoted}'")
        seen = f"-n '__fish_seen_subcommand_from {command}'"
        for option, (says, value) in options.items():
            takes = {None: "", FILE: " -r", NOTHING: " -x"}.get(value, f" -x -a '{value}'")
            lines.append(f"complete -c lowtide {seen} -l {option[2:]}{takes} -d '{says}'")
        if words == TIDE:
            lines.append(f"complete -c lowtide {seen} -k -a '(__fish_complete_suffix .tide)'")
        else:
            lines.append(f"complete -c lowtide {seen} -a '(__fish_complete_subcommand)'")
    return "\n".join(lines) + "\n"


def check(program):
    """The list must say what the program's help says: commands, and options of each."""
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True,
                              check=True).stdout

    problems = []
    listed = help_of().split("Subcommands:")[-1].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z]+)\s", listed, re.M))
    if commands - {"help"} != set(COMMANDS):
        problems.append(f"commands: {sorted(commands ^ set(COMMANDS))}")
    for command in sorted(commands & set(COMMANDS)):
        options = set()
        for line in help_of(command).splitlines():
            if re.match(r"  -", line):
                options |= set(re.findall(r"(--[a-z][a-z-]*)", line.split("   ")[0]))
        options -= {"--help"}
        if options != set(COMMANDS[command][2]):
            problems.append(f"{command}: {sorted(options ^ set(COMMANDS[command][2]))}")
    print("\n".join(problems) or "completions: as the help says")
    return 1 if problems else 0


def main(words):
    if len(words) == 2 and words[0] == "--check":
        return check(words[1])
    if len(words) != 1:
        print(__doc__)
        return 2
    folder = pathlib.Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("lowtide.bash", bash()), ("_lowtide", zsh()), ("lowtide.fish", fish())):
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
