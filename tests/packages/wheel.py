#!/usr/bin/env python3
"""wheel.py - make a wheel of one module: wheel.py DIRECTORY NAME VERSION MODULE-TEXT [REQUIREMENT...].

With a function main() in the text, the wheel installs a command of its name.
"""
import os
import sys
import zipfile

to, name, version, text, needs = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}.py": text,
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {n}\n" for n in needs),
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
if "def main" in text:
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{name} = {name}:main\n"
files[f"{info}/RECORD"] = "".join(f"{f},,\n" for f in [*files, f"{info}/RECORD"])
os.makedirs(to, exist_ok=True)
with zipfile.ZipFile(os.path.join(to, f"{name}-{version}-py3-none-any.whl"), "w") as z:
    for f, content in files.items():
        z.writestr(f, content)
