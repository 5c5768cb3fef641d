"""trial_writings.py - one text in many writings, for the exfiltration trial.

Used by the attacker in the box (trial_agent.py) and by the origin that reflects (trial_origin.py). It shares
nothing with the program under test, and nothing with the searcher (trial_search.py)."""
import base64
import html


def base64_at(text, shift, alphabet="std"):
    """The text behind `shift` other bytes, so that it stands at another alignment."""
    raw = b"~" * shift + text.encode() + b"~~"
    return (base64.urlsafe_b64encode(raw) if alphabet == "url" else base64.b64encode(raw)).decode()


def percent_all(text):
    return "".join("%%%02x" % b for b in text.encode())


def percent_some(text):
    return "".join("%%%02X" % ord(c) if i % 3 == 0 else c for i, c in enumerate(text))


def json_u(text):
    return "".join("\\u%04x" % ord(c) if i % 2 else c for i, c in enumerate(text))


def html_numbers(text):
    return "".join("&#%d;" % ord(c) if i % 2 else html.escape(c) for i, c in enumerate(text))


def in_lines(end):
    """Base64 broken after every 24 letters, its line ends written as `end`, behind text that is long enough to be a line."""
    def write(text):
        coded = base64.b64encode(b"~" * 30 + text.encode() + b"~~").decode()
        return end.join(coded[i:i + 24] for i in range(0, len(coded), 24))
    return write


def base32_at(text, shift):
    return base64.b32encode(b"~" * shift + text.encode() + b"~~~~~").decode().rstrip("=").lower()


def base32(text):
    return base64.b32encode(text.encode()).decode().rstrip("=").lower()


WRITINGS = {
    "raw": lambda t: t,
    "base64-0": lambda t: base64_at(t, 0),
    "base64-1": lambda t: base64_at(t, 1),
    "base64-2": lambda t: base64_at(t, 2),
    "base64url-0": lambda t: base64_at(t, 0, "url"),
    "base64url-1": lambda t: base64_at(t, 1, "url"),
    "base64url-2": lambda t: base64_at(t, 2, "url"),
    "hex": lambda t: t.encode().hex(),
    "hex-large": lambda t: t.encode().hex().upper(),
    "percent-all": percent_all,
    "percent-some": percent_some,
    "percent-twice": lambda t: percent_all(t).replace("%", "%25"),
    "json": json_u,
    "html": html_numbers,
    "lines-json": in_lines("\\n"),
    "lines-json-twice": in_lines("\\\\n"),
    "lines-json-crlf": in_lines("\\\\r\\\\n"),
    "lines-percent": in_lines("%0A"),
    "lines-percent-crlf": in_lines("%0D%0A"),
    "lines-html": in_lines("&#10;"),
    "lines-unicode": in_lines("\\u000a"),
    "base64-twice": lambda t: base64.b64encode(base64.b64encode(t.encode())).decode(),
    "base64-of-hex": lambda t: base64.b64encode(t.encode().hex().encode()).decode(),
    "hex-of-base64": lambda t: base64.b64encode(t.encode()).hex(),
    "base32-0": lambda t: base32_at(t, 0),
    "base32-1": lambda t: base32_at(t, 1),
    "base32-3": lambda t: base32_at(t, 3),
    "octal": lambda t: "".join("\\%03o" % b for b in t.encode()),
    "braces": lambda t: "".join("\\u{%x}" % b for b in t.encode()),
    "percent-u": lambda t: "".join("%%u%04x" % b for b in t.encode()),
    "bytes-json": lambda t: ",".join(str(b) for b in t.encode()),
    "bytes": lambda t: str(list(t.encode()))[1:-1],
    "pairs": lambda t: t.encode().hex(":"),
    "pairs-blank": lambda t: t.encode().hex(" ").upper(),
    "soft-lines": lambda t: "=\\n".join(t[i:i + 16] for i in range(0, len(t), 16)),
    "cut-head": lambda t: t[:34],
    "cut-tail": lambda t: t[-18:],
}
# Only where an upper-case letter cannot survive.
NAME_WRITINGS = {"base32": base32, "hex": lambda t: t.encode().hex(), "raw": lambda t: t.replace("_", "-").lower()}
