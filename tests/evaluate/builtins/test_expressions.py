"""Expressions of builtin functions, types and their methods, held against what Python itself gives."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

EXPRESSIONS = r"""
abs(-3)
abs(-2.5), abs(3-4j)
all([]), any([]), all([1, 0]), any([0, 2])
bin(10), hex(255), oct(8), chr(65), ord("a")
divmod(17, 5), divmod(-7, 2), pow(2, 10), pow(2, 10, 1000), round(2.567, 2), round(2.5), round(-1.5), round(1234, -2)
list(enumerate("abc", 1)), list(zip([1, 2], "ab", (3.0, 4.0))), list(map(str, [1, 2]))
list(filter(None, [0, 1, "", "a"]))
list(map(lambda a, b: a * b, [1, 2, 3], [4, 5])), list(filter(lambda x: x % 2, range(7)))
list(reversed([1, 2, 3])), list(reversed("abc")), list(reversed(range(4)))
sorted([3, 1, 2]), sorted([3, 1, 2], reverse=True), sorted("banana"), sorted(["bb", "a", "ccc"], key=len)
sorted([(1, "b"), (1, "a")])
sorted({"b": 1, "a": 2}), sorted([[2], [1, 5], [1]]), sorted([1.5, 1, True])
max(1, 5, 3), min([4, 2]), max("abc"), max([], default=7), min({"a": 3, "b": 1}, key={"a": 3, "b": 1}.get)
max([1, 2], key=lambda x: -x)
max([])
min()
sum([1, 2, 3]), sum([1.5, 2]), sum([[1], [2]], []), sum(range(10), 5)
sum(["a"])
len([1, 2]), len("abc"), len({1: 2}), len({1, 2}), len(range(5)), len(b"ab")
len(5)
int("12"), int("ff", 16), int(3.9), int(-3.9), int("  7 "), int(True), int("0x1f", 0), int("1_000")
int("abc")
int(None)
float("1.5"), float(3), float("inf") > 1, float("1e3")
float("x")
bool(0), bool([]), bool("a"), bool(None), bool()
str(5), str(None), str([1, "a"]), str(1.0), str(True), str(b"ab"), str((1,)), str({"a": 1}), str(b"hi", "utf-8")
repr("a'b"), repr([1, {"x": (1, 2)}]), repr({1}), repr(set()), repr(frozenset([1]))
complex(1, 2), complex("1+2j"), (1 + 2j).real, (1 + 2j).imag, (3 - 4j).conjugate()
list(range(3)), list(range(2, 8, 3)), range(5)[1:3], range(10).start, range(0, 10, 2).step, range(3).index(2)
range(9).count(4), 5 in range(6)
tuple([1, 2]), tuple("ab"), list("ab"), list({"a": 1}), set([1, 1]), frozenset("aab") == frozenset("ab")
dict(a=1, b=2), dict([("a", 1)]), dict({"a": 1}, b=2), dict(zip("ab", [1, 2])), dict()
dict([1])
dict([(1, 2, 3)])
{}[1]
[][0]
{[]: 1}
isinstance(1, int), isinstance(True, int), isinstance("a", (int, str)), isinstance(None, type(None))
isinstance([], list), isinstance(int, type), isinstance(1.0, int)
issubclass(bool, int), issubclass(int, (str, object)), issubclass(KeyError, LookupError), issubclass(dict, dict)
type(1) is int, type("") is str, type(None).__name__, type([]).__name__, int.__name__, type(1) == type(2)
type(len).__name__
callable(len), callable(int), callable(5), callable(lambda: 1)
hasattr([], "append"), hasattr("", "foo"), getattr("abc", "upper")(), getattr(5, "foo", None)
getattr([], "append", 0) is not None
getattr(5, "foo")
next(iter([1, 2])), next(iter([]), 5)
next(iter([]))
list(iter([1, 2])), [next(i) for i in [iter("ab")] for _ in range(2)]
format(3.14159, ".2f"), format(5, "03d"), format("a", ">5"), format(1000000, ","), format(0.5, "%")
"%d %s %r %5.2f %x %%" % (1, "a", "b", 3.14159, 255), "%s" % 5, "%(a)s-%(b)03d" % {"a": 1, "b": 2}
"%s" % (1,), "%-5s|" % "a", "%*d" % (5, 3), "%c" % "x", "%5s" % None, "%e" % 12345.678
"%d" % "a"
"%s %s" % (1,)
"%s" % (1, 2)
"{} {}".format(1, 2), "{0}{1}{0}".format("a", "b"), "{a}".format(a=1), "{:>5}|{:<5}|{:^5}".format(1, 2, 3)
"{:.3f}".format(2.0), "{!r}".format("a"), "{:{w}}".format(5, w=4), "{0[1]} {a.real}".format([1, 2], a=3)
"{{}}".format(), "{:,}".format(12345), "{:05d}".format(42), "{:e}".format(12345.0), "{:b}".format(5)
"{}".format()
"{a}".format()
"abc".upper(), "Abc".swapcase(), "a b".title(), "abc".capitalize(), " a ".strip(), "xxaxx".strip("x")
"a,b".split(","), "a b  c".split(), "a\nb".splitlines(), "abc".find("c"), "abc".rfind("z")
"abcabc".count("bc"), "abc".replace("b", "x"), "aaa".replace("a", "b", 2)
"abc".startswith("ab"), "abc".endswith(("c", "d")), ",".join(["a", "b"]), "-".join("abc"), "a".join({"x": 1})
"abc".center(7, "*"), "a".ljust(3) + "|", "a".rjust(3), "5".zfill(3), "a\tb".expandtabs(4)
"a-b-c".partition("-"), "a-b-c".rpartition("-"), "a.b.c".rsplit(".", 1)
"abc".isalpha(), "12".isdigit(), "a1".isalnum(), "ABC".isupper(), "a_b".isidentifier(), "abc".index("b")
"prefix_x".removeprefix("prefix_"), "x.py".removesuffix(".py"), "abc".casefold(), "abc".encode(), "ß".upper()
"abc".translate({97: "x"}), "abc".translate(str.maketrans("ab", "xy"))
"abc".index("z")
",".join([1])
"a" + 1
str.upper("x"), list(map(str.lower, ["A", "B"])), str.join(",", ["a"]), str.format("{}", 1)
"abc"[1], "abc"[-1], "abc"[::-1], "abc" * 2, "b" in "abc", "abc" < "abd"
b"ab" + b"c", b"abc".decode(), b"ab".hex(), bytes(3), bytes([1, 2]), bytes("a", "utf-8"), bytearray(b"a")
b"abc"[0], b"%d" % 5, b"a,b".split(b","), bytes.fromhex("ff")
[1, 2, 3].index(2), [1, 2, 1].count(1), [1] + [2], [1] * 3, [1, 2][::-1], 2 in [1, 2], [1, 2] == [1, 2]
[1, 2] < [1, 3], [3] > [2, 9]
[1].index(5)
(1, 2).index(2), (1, 1).count(1), (1, 2) + (3,), (1,) * 2, (1, 2)[0]
{"a": 1}.get("a"), {"a": 1}.get("b"), {"a": 1}.get("b", 2), list({"a": 1}.keys()), list({"a": 1}.values())
list({"a": 1}.items()), "a" in {"a": 1}, {"a": 1} | {"b": 2}, {"a": 1} == {"a": 1}
dict.fromkeys("ab"), dict.fromkeys([1], 0), {"a": 1}.copy(), {"a": 1}.keys() & {"a", "b"}
{"a": 1}.items() == {"a": 1}.items(), list(reversed({"a": 1, "b": 2}))
{1, 2} | {3}, {1, 2} & {2}, {1, 2} - {2}, {1} ^ {2}, {1}.union([2], [3]), {1, 2}.intersection([2])
{1}.issubset({1, 2}), {1, 2}.issuperset([1]), {1}.isdisjoint({2}), {1} < {1, 2}, {1, 2}.difference([1])
{1}.symmetric_difference([2]), frozenset([1]) | {2}
(5).bit_length(), (5).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "big"), (1.5).is_integer()
(0.5).as_integer_ratio(), (2.0).is_integer(), (5).real, (5).conjugate(), float.fromhex("0x1p3"), (1.5).hex()
(10).bit_count()
1 / 0
1 // 0
5 % 0
int.__add__(1, 2), str.__len__("ab"), list.__getitem__([1, 2], 1), dict.__contains__({1: 2}, 1)
(5).__class__.__name__, [].__len__(), (1).__add__(2)
slice(1, 5, 2).indices(4), slice(3).stop, [0, 1, 2, 3][slice(1, 3)], slice(1, 2)
hash(5), hash(1.5), id([]) != 0
vars(type("T", (), {"a": 1})())
type("T", (object,), {"a": 1}).a, type("T", (dict,), {})(a=1)
sorted(dir(type("T", (), {"zz": 1})))[-1]
ascii("é")
list(zip([1, 2], [1], strict=True))
list(zip())
ValueError("a", 1).args, str(ValueError("x")), repr(ValueError("x")), str(KeyError("k")), str(ValueError())
repr(KeyError("a", "b")), str(ValueError(1, 2)), StopIteration(5).value
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_value_that_python_gives(expression: str) -> None:
    program = f"result = {expression}"
    assert repr(interpreted(program)) == repr(real(program))
