"""exported.py FIXES SOURCE: what an editor makes of a source by exported fixes, which may not touch each other."""

import json
import re
import sys

TEXT = re.compile(r"Offset: +(\d+)\n +Length: +(\d+)\n +ReplacementText: +(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|\w.*)")


def unquoted(text):
    if text[0] == '"':
        return json.loads(text)
    return text[1:-1].replace("''", "'") if text[0] == "'" else text


with open(sys.argv[1], encoding="utf-8") as fixes, open(sys.argv[2], encoding="utf-8", newline="") as source:
    yaml, text = fixes.read(), source.read()
found = sorted((int(at), int(length), unquoted(new)) for at, length, new in TEXT.findall(yaml))
assert len(found) == yaml.count("ReplacementText:")
end, result = 0, ""
for (at, length, new), after in zip(found, [*(at for at, _, _ in found[1:]), len(text) + 1]):
    assert at + length <= after and at != after, f"two fixes at {at}"
    result, end = result + text[end:at] + new, at + length
sys.stdout.buffer.write((result + text[end:]).encode())
