"""Hostile programs whose texts grow without end: formats, replacements, regular expressions and other patterns."""

from __future__ import annotations

BEFORE = {
    "widths of formats": """\
a = '%1000000000d' % 1
b = f'{1:>{10**10}}'
c = '{:1000000000}'.format(1)
d = '%*d' % (10**9, 1)
e = 'x'.ljust(10**12)
f = 'x'.center(10**10)
g = 'x'.zfill(10**10)
h = f'{1.5:.999999999f}'
i = '%.999999999f' % 1.5
j = format(1, '1000000000')
k = '{0:{1}}'.format(1, 10**10)
l = '\\t' .expandtabs(10**10)
m = b'%1000000000d' % 1
n = f'{10**300:f}'
o = '{:,}'.format(10**4000)
p=1 .__format__('1000000000')""",
    "numbers as long texts": """\
a = int('9' * 10**7)
b = int('9' * 100000)
c = float('9' * 10**7)
d = int('f' * 250000, 16)
e = str(10**4000)
f = eval('9' * 10**6)
g = complex('9' * 10**6)
h=int.from_bytes(b'x' * 10**6, 'big')
i=(1).to_bytes(10**12, 'big')
j=bytes(10**12)
k=bytearray(10**12)
l=hex(1 << 4000)
m=bin(3**2000)""",
    "texts replaced and joined": """\
s = 'a' * 1000
for i in range(100): s = s.replace('a', s)
t = 'a'.join(['b' * 1000] * 10000)
u = ('x,' * 100000).split(',')
for i in range(100): t = t.join([t] * 100)
v = 'a'.translate({97: 'b' * 100000}) * 100000
w = s.upper() * 10**9
x = ''.join(str(i) for i in range(10**9))
y = ('a' * 200000).replace('a', 'b' * 200000)
z = 'ab'.encode() * 10**12""",
    "regular expressions that backtrack": """\
import re
re.match('(a+)+b', 'a' * 60)
re.match('(a|a)*b', 'a' * 60)
re.match('a?' * 40 + 'a' * 40, 'a' * 40)
re.match('(a|a)' * 50 + 'b', 'a' * 60)
re.match('(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b', 'a' * 900)
re.sub('(a*)*', 'b', 'a' * 200)
re.findall('(x+x+)+y', 'x' * 60)
re.match(r'(\\w+)*$', 'a' * 50 + '!')
re.split('(a?){60}b', 'a' * 60)
re.compile('(((a{1,100}){1,100}){1,100}){1,100}').match('a' * 50)
re.match('(?=(a+))' * 20 + 'b', 'a' * 500)
re.sub('a', r'\\g<0>' * 50000, 'a' * 900)
re.match('(?P<a>x*)', 'x' * 900).expand(r'\\g<a>' * 50000)
re.match(r'(a*)\\1\\1\\1b', 'a' * 900)
re.match('[a]?' * 45 + '[a]' * 45, 'a' * 45)
re.match('(?:a??){45}a{45}b', 'a'*45)""",
    "regular expressions that hide": r"""
import re
re.match('(?x)( a + # ) +\n ) + b', 'a' * 60)
re.match('((?#)a+(?#)) (?#) +b', 'a' * 60, re.X)
re.match('(a+(?#x))(?#y)+b', 'a' * 60)
re.match('((?x: a + ) )+b', 'a' * 60)
re.match('([a]+[)]?)+b', 'a' * 60)
re.match('(?i:(A|a)+)b', 'a' * 60)
re.match('(?:(?:a{0,9}){0,9}){0,9}b', 'a' * 60)
re.split('(?x) (a | a # comment' + chr(10) + ') * b', 'a' * 60)
re.split('(?:a+?)+b', 'a' * 60)
re.split('(a?){60}b', 'a' * 60, 0, re.I)
re.split('(a*)*b', 'a' * 300)
re.sub('(?:a|b|ab)*c', '', 'ab' * 40)
re.sub('(?=(a+))*b', '', 'a' * 900)
re.findall('(?:a|a|a)*b', 'a' * 60)
re.findall(r'(?:\w|\d|_)+$', 'a' * 60 + '!')
re.findall('(?:(?=a)a?)*b', 'a' * 900)
re.match('(?:){1000000000}', '')
re.match('(?:(?:){60000}){60000}', '')
re.match('(?:a{1000}){1000}b', 'a' * 900)
re.match('(?:(a)|b|c)*' * 20, 'abc' * 300)
re.compile('[' + chr(1) + '-' + chr(0x10ffff) + ']' * 500, re.I)
re.compile(('[' + chr(1) + '-' + chr(0x10ffff) + ']') * 500, re.I)
re.compile('(' * 3000 + ')' * 3000)
re.compile('(?:' * 1500 + 'a' + ')*' * 1500)
re.compile('a|' * 3900)
re.compile('a', re.DEBUG)
re.compile('(a)' * 100 + '(?(1)a|b)' * 10).match('a' * 900)
pattern = re.compile(r'^(\w+)(\d+)(\w*)_(\w+)$')
for i in range(10**6): pattern.match('a1' * 100)
""",
    "patterns of fnmatch": """\
import fnmatch
fnmatch.fnmatch('a' * 200, '*a' * 30 + 'b')
fnmatch.filter(['a' * 200], '*a' * 30 + 'b')
import glob
glob.glob('/**/*', recursive=True)
import string
string.Template('$a' * 50000).substitute(a='b' * 50000)
import textwrap
textwrap.fill('a ' * 100000, 1)
textwrap.indent('a\\n' * 100000, ' ' * 100000)
import difflib
difflib.get_close_matches('a' * 2000, ['b' * 2000] * 100)""",
    "a text over many lines": "s = '''" + "a b c\n" * 80000 + "'''\n" + "# " + "c" * 200000,
    "an f-string in an f-string": "x = " + "f'{" * 1 + "1" + "}'" + '\ny = f"' + "{x}" * 20000 + '"',
}  # fmt: skip
"""What a program does before it builds a model."""
