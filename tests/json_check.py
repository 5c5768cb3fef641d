"""json_check.py SCHEMA DIRECTORY LIST: is each file of the list one document of its kind, as the schema has it?

LIST has lines "NAME KIND STATUS" with tabs; a line "ok" or "not ok" is printed for each."""
import json
import os
import re
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
defs = schema["$defs"]
validators = {k: jsonschema.Draft202012Validator(dict(v, **{"$defs": defs})) for k, v in defs.items()}
TIMES = {"created", "changed", "ended", "made", "when", "time", "mtime"}
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def times(value, key=""):
    """Every time that is not one in UTC."""
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in times(v, k)]
    if isinstance(value, list):
        return [x for v in value for x in times(v, key)]
    if key in TIMES and value is not None and not (isinstance(value, str) and UTC.fullmatch(value)):
        return ["%s is no time in UTC: %r" % (key, value)]
    return []


def judge(name, kind):
    text = open(os.path.join(sys.argv[2], name)).read()
    try:
        document = json.loads(text)
    except ValueError:
        return "not one document: %r" % text[:200]
    if document.get("kind") != kind:
        return "the kind is %s: %s" % (document.get("kind"), text[:300])
    for what, value in (("_envelope", document), (kind, document["data"])):
        for fault in validators[what].iter_errors(value):
            return "%s at %s" % (fault.message[:200], "/".join(str(p) for p in fault.absolute_path))
    return "; ".join(times(document))


bad = 0
for line in open(sys.argv[3]):
    name, kind, status = line.rstrip("\n").split("\t")
    why = judge(name, kind)
    print("not ok %s: %s: status %s, %s" % (name, kind, status, why) if why else "ok %s: %s" % (name, kind))
    bad = bad or bool(why)
sys.exit(bad)
