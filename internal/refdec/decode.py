#!/usr/bin/env python3
"""A plain decoder of the .pz format, version 1, written from FORMAT.md alone.

Use: python3 decode.py [--dictionary FILE] FILE >CONTENT

The chapters below have the names and the order of the chapters of FORMAT.md as far as Python
allows. The decoder reads forward. It is slow on purpose: each rule stands as it is written there.
"""

import sys

class FormatError(Exception):
    """The file breaks a rule. position is the byte of the file where this was noticed."""
    def __init__(self, text, position):
        super().__init__("%s (at byte %d = 0x%x)" % (text, position, position))
        self.text, self.position = text, position

# ---- Conventions -------------------------------------------------------------------------------
def crc_table(polynomial):
    """Makes the table of a reflected CRC: the effect of each byte."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
        table.append(byte)
    return table

CRC32C_TABLE = crc_table(0x82F63B78)  # the polynomial 1EDC6F41, reflected
CRC16_TABLE = crc_table(0x8408)       # x^16 + x^12 + x^5 + 1, reflected

def crc_of(table, ones, parts):
    """A CRC of the parts, one after the other."""
    crc = ones
    for part in parts:
        for byte in part:
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ ones

def crc32c(*parts):
    return crc_of(CRC32C_TABLE, 0xFFFFFFFF, parts)

def crc16(*parts):
    return crc_of(CRC16_TABLE, 0xFFFF, parts)

class Reader:
    """Reads fields of data from pos on, and not beyond end. Positions are those of the file."""
    def __init__(self, data, pos, end, short):
        self.data, self.pos, self.end, self.short = data, pos, end, short

    def fail(self, text):
        raise FormatError(text, self.pos)

    def check(self, ok, text):
        if not ok:
            self.fail(text)

    def left(self):
        return self.end - self.pos

    def take(self, size):
        self.check(size <= self.left(), self.short)
        self.pos += size
        return self.data[self.pos - size:self.pos]

    def peek(self, size):
        self.check(size <= self.left(), self.short)
        return self.data[self.pos:self.pos + size]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = 0
        for i in range(5):
            byte = self.number(1)
            value |= (byte & 127) << 7 * i
            if byte < 128:
                self.check(value < 1 << 32, "varint is not below 2^32")
                return value
        self.fail("varint has more than 5 bytes")

    def part(self, size, short):
        """A reader of the next size bytes, which this one skips."""
        self.take(size)
        return Reader(self.data, self.pos - size, self.pos, short)

class BitString:
    """Reads the fields of a bit string that begins at the place of a reader."""
    def __init__(self, reader):
        self.reader, self.value, self.count = reader, 0, 0

    def field(self, bits):
        while self.count < bits:
            self.value |= self.reader.number(1) << self.count
            self.count += 8
        field = self.value & (1 << bits) - 1
        self.value >>= bits
        self.count -= bits
        return field

    def finish(self):
        self.reader.check(self.value == 0, "the rest of the last byte of a bit string is not 0")

# ---- File --------------------------------------------------------------------------------------
def decode_file(data, write, dictionary=None):
    """Decodes all streams of a file and gives the content to write, block by block."""
    reader = Reader(data, 0, len(data), "truncated")
    reader.check(len(data) > 0, "an empty file is invalid")
    delivered, streams = 0, 0
    while reader.left() > 0:
        if reader.left() >= 4 and reader.peek(4) == b"PZ\x01\x00":
            skip_section(reader)
        else:
            delivered += decode_stream(reader, write, dictionary, delivered)
            streams += 1
    reader.check(streams > 0, "a file without streams is invalid")
    return delivered

def skip_section(reader):
    """Skips a section (chapter Sections). Only its header matters to a decoder."""
    head = reader.peek(17)
    right = crc32c(head[:13])
    reader.check(int.from_bytes(head[13:], "little") == right, "wrong check of a section header")
    size = int.from_bytes(head[5:13], "little")
    reader.check(head[4] >= 128, "unknown section")
    reader.check(size >= 33, "section too short")
    reader.take(size)

def decode_stream(reader, write, dictionary, delivered):
    """Decodes a stream of either form. Returns the size of its content."""
    for i, allowed in enumerate((b"P", b"Z", b"\x01")):
        reader.check(reader.peek(i + 1)[i] in allowed, "no stream of version 1 begins here")
    reader.check(reader.peek(4)[3] in (1, 2), "unknown pipeline")
    if reader.peek(5)[4] >= 128:
        return decode_small_stream(reader, write, dictionary)
    return decode_large_stream(reader, write, dictionary, delivered)

# ---- Stream: Header ----------------------------------------------------------------------------
class Header:
    """What the header of a stream states. None stands for a field that is not there."""
    block_size = content_size = checks = window = sources = dictionary = None

def read_header(reader, delivered):
    start, header = reader.pos, Header()
    reader.take(4)  # decode_stream has verified them
    log = reader.number(1)
    reader.check(12 <= log <= 26, "block size out of range")
    header.block_size = 1 << log
    flags = reader.number(1)
    reader.check(flags < 16, "unknown flag in a stream header")
    reader.check(flags & 12 != 12, "a stream has both window and dictionary")
    header.checks = flags >> 1 & 1
    if flags & 1:
        header.content_size = reader.number(8)
    if flags & 4:
        log, header.sources = reader.number(1), reader.number(1)
    if flags & 8:
        header.dictionary = reader.number(4)
    covered = reader.data[start:reader.pos]
    reader.check(reader.number(4) == crc32c(covered), "wrong check of a stream header")
    if flags & 1:
        reader.check(header.content_size < 1 << 63, "content size is not below 2^63")
        reader.check(delivered + header.content_size < 1 << 63, "too much content in all streams")
    if flags & 4:
        reader.check(20 <= log <= 31, "window out of range")
        reader.check(1 <= header.sources <= 64, "number of sources out of range")
        header.window = 1 << log
    reader.check(header.dictionary != 0, "number of the dictionary is 0")
    return header

# ---- Stream: Block -----------------------------------------------------------------------------
STORED, FILL, CODED = 1, 2, 3

class Block:
    """The header of a block. entry is what the index has of it."""
    kind = payload_size = raw_size = check = entry = None

def read_block_header(reader, number):
    if reader.peek(1)[0] & 4:
        return read_short_header(reader, number)
    block, start = Block(), reader.pos
    first, block.raw_size, block.check = reader.number(4), reader.number(4), reader.number(4)
    block.kind, block.payload_size = first & 7, first >> 4
    block.entry = reader.data[start:start + 8]
    covered = reader.data[start:reader.pos]
    right = crc32c(covered, number.to_bytes(8, "little"))
    reader.check(reader.number(4) == right, "wrong check of a block header")
    return block

def read_short_header(reader, number):
    block, start = Block(), reader.pos
    first = reader.number(3)
    block.kind, block.raw_size = first & 3, first >> 3
    block.payload_size = payload_size_of(reader, block.kind, block.raw_size)
    block.entry = reader.data[start:reader.pos]
    block.check = reader.number(4)
    covered = reader.data[start:reader.pos]
    right = crc16(covered, (number & 0xFFFF).to_bytes(2, "little"))
    reader.check(reader.number(2) == right, "wrong check of a short block header")
    return block

def payload_size_of(reader, kind, raw_size):
    """The payload size in a short header and in that of a small stream."""
    if kind == CODED:
        return reader.number(2)
    return raw_size if kind == STORED else 1

def verify_sizes(reader, block, most):
    """Verifies what a block header says. most is the most content that a block may have."""
    reader.check(block.kind in (STORED, FILL, CODED), "unknown kind of block")
    reader.check(1 <= block.raw_size <= most, "raw size out of range")
    reader.check(1 <= block.payload_size <= block.raw_size, "payload size out of range")
    right = {STORED: block.payload_size == block.raw_size, FILL: block.payload_size == 1,
             CODED: block.payload_size < block.raw_size}
    reader.check(right[block.kind], "payload size does not suit the kind")

def decode_block(reader, block, stream):
    """Decodes the payload of a block and verifies its check. Returns content and own content."""
    start = reader.pos
    payload = reader.part(block.payload_size, "payload ends too early")
    if block.kind == CODED and payload.peek(1)[0] == 4:
        content, own = decode_references(payload, block.raw_size, stream)
    else:
        content = decode_payload(payload, block.kind, block.raw_size, stream.prefix)
        own = b"" if block.kind == FILL else content
    right = 0
    if stream.checks:
        covered = reader.data[start:reader.pos]
        right = crc32c(covered, own) if block.kind == CODED else crc32c(covered)
    if block.check != right:
        raise FormatError("wrong content check of a block", start)
    return content, own

def decode_payload(payload, kind, raw_size, prefix):
    """Decodes a payload that is not of layout 4. raw_size is 0 with kind 0 only."""
    if kind == CODED:
        content = decode_coded(payload, raw_size, prefix)
    elif kind == FILL:
        content = payload.take(1) * raw_size
    else:
        content = payload.take(raw_size)
    payload.check(payload.left() == 0, "payload has more bytes than it needs")
    return content

# ---- Stream: End marker, index and footer ------------------------------------------------------
class Stream:
    """What a decoder remembers of a stream while it reads forward."""
    def __init__(self, header, prefix):
        self.header, self.checks, self.prefix = header, header.checks, prefix
        self.entries, self.blocks, self.content_size, self.short = bytearray(), 0, 0, False
        self.own, self.own_size = {}, 0  # own contents that lie in the window, by block number

    def remember(self, own):
        """Keeps the own content of a block, and drops those that no longer lie in the window."""
        if not self.header.window:
            return
        self.own[self.blocks] = own
        self.own_size += len(own)
        while self.own_size > self.header.window or len(self.own) > 65536:
            self.own_size -= len(self.own.pop(next(iter(self.own))))

def decode_large_stream(reader, write, dictionary, delivered):
    start = reader.pos
    header = read_header(reader, delivered)
    stream = Stream(header, b"")
    if reader.peek(1)[0] & 3:  # a stream without blocks needs no dictionary
        stream.prefix = prefix_for(reader, header.dictionary, dictionary)
    while reader.peek(1)[0] & 3:
        decode_next_block(reader, stream, write)
    read_end(reader, stream, start)
    return stream.content_size

def decode_next_block(reader, stream, write):
    block = read_block_header(reader, stream.blocks)
    verify_sizes(reader, block, stream.header.block_size)
    total = stream.content_size + block.raw_size
    if stream.header.content_size is not None:
        reader.check(total <= stream.header.content_size, "more content than the header states")
    reader.check(block.payload_size <= reader.left(), "truncated")
    content, own = decode_block(reader, block, stream)
    write(content)
    stream.remember(own)
    stream.content_size = total
    stream.blocks += 1
    stream.entries += block.entry
    stream.short = stream.short or bool(block.entry[0] & 4)

def read_end(reader, stream, start):
    """Reads end marker, index and footer, and compares them with the blocks."""
    begin = reader.pos
    index = bytes(stream.entries) + bytes(-len(stream.entries) % 8)
    n = len(index) // 8
    marker = min(n, (1 << 29) - 1) * 8 + 4 if stream.short else 0
    reader.check(reader.number(4) == marker, "wrong end marker")
    reader.check(reader.take(8 * n) == index, "the index does not agree with the blocks")
    size, stated = stream.content_size, stream.header.content_size
    reader.check(reader.number(8) == size, "wrong content size in the footer")
    reader.check(stated in (None, size), "less content than the header states")
    stream_size, units = reader.number(8), reader.number(8)
    reader.check(units == n, "wrong size of the index in the footer")
    covered = reader.data[begin:reader.pos]
    reader.check(reader.number(4) == crc32c(covered), "wrong check of index and footer")
    reader.check(reader.take(4) == b"PZIX", "the footer does not end with PZIX")
    reader.check(stream_size == reader.pos - start, "wrong stream size in the footer")

# ---- Stream: Small streams ---------------------------------------------------------------------
def decode_small_stream(reader, write, dictionary):
    start = reader.pos
    header, block = read_small_header(reader)
    content = b""
    if block.kind != 0:
        reader.check(block.payload_size <= reader.left(), "truncated")
        stream = Stream(header, prefix_for(reader, header.dictionary, dictionary))
        content = decode_block(reader, block, stream)[0]
        write(content)
    size = reader.number(2)
    reader.check(reader.take(1) == b"z", "the footer of a small stream does not end with z")
    reader.check(size == reader.pos - start, "wrong stream size in the footer")
    return len(content)

def read_small_header(reader):
    start, header, block = reader.pos, Header(), Block()
    reader.take(4)  # decode_stream has verified them
    flags = reader.number(1)
    reader.check(flags & 0x70 == 0, "unknown flag in the header of a small stream")
    block.kind, header.checks = flags & 3, flags >> 2 & 1
    block.raw_size = reader.number(2)
    block.payload_size = payload_size_of(reader, block.kind, block.raw_size)
    if flags & 8:
        header.dictionary = reader.number(4)
    block.check = reader.number(4) if header.checks else 0
    covered = reader.data[start:reader.pos]
    reader.check(reader.number(2) == crc16(covered), "wrong check of a small stream's header")
    reader.check(not flags & 8 or block.kind == CODED, "a dictionary without a coded block")
    reader.check(header.dictionary != 0, "number of the dictionary is 0")
    if block.kind == 0:
        reader.check(block.raw_size == 0, "raw size is not 0 in a stream without content")
        reader.check(block.check == 0, "content check is not 0 in a stream without content")
    else:
        verify_sizes(reader, block, 65000)
    return header, block

# ---- Dictionaries ------------------------------------------------------------------------------
class Dictionary:
    """The content of a dictionary and the number that streams name it by."""
    def __init__(self, data):
        if not 1 <= len(data) <= 32 << 20:
            raise FormatError("a dictionary has from 1 byte to 32 MiB", 0)
        self.content, self.number = data, 0
        if data[:4] == bytes.fromhex("37A430EC"):
            reader = Reader(data, 4, len(data), "dictionary ends too early")
            self.number = reader.number(4)
            skip_dictionary_tables(reader)
            self.content = data[reader.pos:]
        self.number = self.number or crc32c(self.content) or 1

def skip_dictionary_tables(reader):
    """Skips the tables and the repeat offsets of a dictionary of RFC 8878, section 5."""
    head = reader.number(1)  # Huffman_Tree_Description, section 4.2.1.1
    reader.take(head if head < 128 else (head - 127 + 1) // 2)
    for most in (8, 9, 9):   # offsets, match lengths, literal lengths: section 4.1.1
        skip_fse_table(reader, most)
    reader.take(12)          # three repeat offsets

def skip_fse_table(reader, most):
    bits = BitString(reader)
    log = bits.field(4) + 5
    reader.check(log <= most, "accuracy of a table in the dictionary out of range")
    left = 1 << log
    while left > 0:
        width = (left + 1).bit_length()
        low = bits.field(width - 1)
        spare = (1 << width) - 2 - left  # so many values have one bit less
        if low >= spare:
            high = bits.field(1)
            low = low + (1 << width - 1) - spare if high else low
        left -= abs(low - 1)
        while low == 1 and bits.field(2) == 3:
            pass
    reader.check(left == 0, "wrong sum of a table in the dictionary")

def prefix_for(reader, number, dictionary):
    """The content in front of each coded block: the last 8 MiB of the dictionary, or nothing."""
    if number is None:
        return b""
    reader.check(dictionary is not None, "the stream needs dictionary %d" % number)
    reader.check(dictionary.number == number, "the stream needs dictionary %d, not %d"
                 % (number, dictionary.number))
    return dictionary.content[-(8 << 20):]

# ---- Coded blocks ------------------------------------------------------------------------------
STREAMS = ("Lits", "Tokens", "Offsets", "LitLens", "MatchLens", "Extra")

def limits(layout, n):
    """The most bytes of each byte stream for a block with a raw size of n."""
    if layout == 3:
        return dict(zip(STREAMS, (n, n // 2, n // 3, n // 3, n // 16, n + 1)))
    return dict(zip(STREAMS, (n, n // 4, n // 2, n // 3, n // 16, 3 * n // 4 + 1)))

def decode_coded(payload, raw_size, prefix):
    """Decodes a coded payload of layout 1, 2 or 3."""
    layout = payload.number(1)
    payload.check(layout in (1, 2, 3), "unknown layout")
    if layout == 3:
        return decode_dense(payload, raw_size, prefix)
    streams = read_coded_streams(payload, limits(layout, raw_size))
    tokens = PlainTokens(payload, streams)
    if layout == 2:
        tokens = RepeatTokens(payload, streams, 4, 4)
    return execute(payload, streams, raw_size, prefix, tokens)

class Source:
    """Takes bytes from a byte stream."""
    def __init__(self, payload, name, data):
        self.payload, self.name, self.data, self.pos = payload, name, data, 0

    def take(self, size):
        if self.pos + size > len(self.data):
            self.payload.fail("the byte stream %s is too short" % self.name)
        self.pos += size
        return self.data[self.pos - size:self.pos]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def long_length(self):
        n = self.number(1)
        if n == 255:
            n = self.number(4)
            self.payload.check(255 <= n < 1 << 30, "long length out of range")
        return n

    def finish(self):
        left = len(self.data) - self.pos
        self.payload.check(left == 0, "%d bytes of %s are not used" % (left, self.name))

def execute(payload, streams, raw_size, prefix, tokens):
    """Executes all sequences. Returns the content."""
    out = bytearray(prefix)
    end = len(prefix) + raw_size
    literals = Source(payload, "Lits", streams["Lits"])
    for token in streams["Tokens"]:
        run, length, offset = tokens.sequence(token)
        out += literals.take(run)
        payload.check(len(out) + length <= end, "a match ends beyond the block")
        payload.check(offset >= 16, "an offset is below 16")
        payload.check(offset <= len(out), "an offset reaches back too far")
        copy_match(out, offset, length)
    out += literals.take(len(literals.data) - literals.pos)
    payload.check(len(out) == end, "the content does not have the raw size")
    tokens.finish()
    return bytes(out[len(prefix):])

def copy_match(out, offset, length):
    """Appends a match. It may overlap what it appends, so it goes in steps of offset bytes."""
    begin = len(out) - offset
    while length > 0:
        step = min(length, offset)
        out += out[begin:begin + step]
        begin += step
        length -= step

# ---- Layout 1: Plain ---------------------------------------------------------------------------
class Tokens:
    """The byte streams that a token takes its literal run, match length and offset from."""
    def __init__(self, payload, streams):
        self.payload = payload
        self.lit_lens = Source(payload, "LitLens", streams["LitLens"])
        self.match_lens = Source(payload, "MatchLens", streams["MatchLens"])
        self.offsets = Source(payload, "Offsets", streams["Offsets"])
        self.extra = Source(payload, "Extra", streams["Extra"])
        self.bits = BitString(self.extra)

    def finish(self):
        for source in (self.lit_lens, self.match_lens, self.offsets, self.extra):
            source.finish()

class PlainTokens(Tokens):
    def sequence(self, token):
        """The literal run, match length and offset of the next sequence."""
        run, length = token & 15, token >> 4
        if run == 15:
            run += self.lit_lens.long_length()
        length = 20 + self.match_lens.long_length() if length == 15 else length + 5
        return run, length, self.offsets.number(2)

# ---- Layout 2: Repeat --------------------------------------------------------------------------
def literal_run(token, lit_lens):
    """The literal run of a token of layout 2 or 3."""
    run = token & 3
    return 3 + lit_lens.long_length() if run == 3 else run

class RepeatTokens(Tokens):
    """Layouts 2 and 3. They differ only in the shortest match with an old and a new offset."""
    def __init__(self, payload, streams, least_repeat, least_new):
        super().__init__(payload, streams)
        self.least_repeat, self.least_new = least_repeat, least_new
        self.repeat = [64, 64, 64]

    def sequence(self, token):
        run = literal_run(token, self.lit_lens)
        length, place = token >> 2 & 15, token >> 6
        least = self.least_new if place == 3 else self.least_repeat
        if length == 15:
            length += self.match_lens.long_length()
        return run, least + length, self.offset(place)

    def offset(self, place):
        if place == 3:
            offset = self.new_offset()
            self.repeat.pop()
        else:
            offset = self.repeat.pop(place)
        self.repeat.insert(0, offset)
        return offset

    def new_offset(self):
        code = self.offsets.number(1)
        e = code >> 2
        self.payload.check(e <= 24, "code of an offset out of range")
        return ((1 << e) + self.bits.field(e) - 1) * 4 + (code & 3)

# ---- Layout 3: Dense ---------------------------------------------------------------------------
def decode_dense(payload, raw_size, prefix):
    flags = payload.number(1)
    payload.check(flags < 16, "unknown flag of layout 3")
    most, coded = limits(3, raw_size), {}
    ranges = read_ranges(payload, raw_size) if flags & 4 else []
    for bit, name in (1, "Tokens"), (8, "MatchLens"):
        if flags & bit:
            coded[name] = read_context_coded(payload, most[name], None)
            most[name] = 0  # it has length 0 among the coded streams
    if flags & 2:
        most["Lits"] = 0
    streams = read_coded_streams(payload, most)
    streams.update(coded)
    if flags & 2:
        streams["Lits"] = read_context_coded(payload, raw_size, streams)
    content = execute(payload, streams, raw_size, prefix, RepeatTokens(payload, streams, 2, 3))
    return undo_filter(content, ranges)

def marks_of(payload, streams, n):
    """A byte for each literal: 1 if it has a mark."""
    lit_lens = Source(payload, "LitLens", streams["LitLens"])
    marks, at = bytearray(n), 0
    for token in streams["Tokens"]:
        run = literal_run(token, lit_lens)
        if at < n and run > 0:
            marks[at] = 1
        at += run
    payload.check(at <= n, "the sequences have more literals than Lits")
    if at < n:
        marks[at] = 1
    return marks

# ---- Layout 3: Filter for x86 ------------------------------------------------------------------
def read_ranges(payload, raw_size):
    """Reads the filtered ranges: pairs of begin and end."""
    count = payload.varint()
    payload.check(1 <= count <= raw_size, "number of filtered ranges out of range")
    ranges, at = [], 0
    for _ in range(count):
        begin = at + payload.varint()
        length = payload.varint()
        at = begin + length
        payload.check(length >= 1 and at <= raw_size, "filtered range out of range")
        ranges.append((begin, at))
    return ranges

def undo_filter(content, ranges):
    content = bytearray(content)
    for begin, end in ranges:
        content[begin:end] = undo_range(content[begin:end])
    return bytes(content)

def undo_range(byte):
    for i in range(len(byte) - 5, -1, -1):
        branch = byte[i] in (0xE8, 0xE9)
        access = (byte[i] & 0xC7 == 0x05 and i >= 2
                  and byte[i - 2] in (0x48, 0x4C) and byte[i - 1] in (0x8B, 0x8D))
        if (branch or access) and byte[i + 4] in (0x00, 0xFF):
            v = int.from_bytes(byte[i + 1:i + 5], "little")
            v = (v - (i + 5)) % 0x2000000
            if v >= 0x1000000:
                v += 0xFE000000
            byte[i + 1:i + 5] = v.to_bytes(4, "little")
    return byte

# ---- Layout 4: References ----------------------------------------------------------------------
def decode_references(payload, raw_size, stream):
    """Decodes a payload of layout 4. Returns the content and the own content."""
    payload.check(stream.header.window, "layout 4 in a stream without a window")
    payload.number(1)  # decode_block has seen that it is 4
    check, at = payload.number(4), payload.pos
    sources = read_sources(payload, stream)
    references, own_size = read_references(payload, raw_size, sources)
    own = read_own_content(payload, own_size)
    content, taken = bytearray(), 0
    for front, length, source, offset in references:
        content += own[taken:taken + front] + source[offset:offset + length]
        taken += front
    content += own[taken:]
    if stream.checks and check != crc32c(content):
        raise FormatError("wrong check of the content of layout 4", at)
    return bytes(content), own

def read_sources(payload, stream):
    """Reads the sources. Returns the own content of each."""
    count = payload.varint()
    payload.check(1 <= count <= stream.header.sources, "number of sources out of range")
    sources, distance = [], 0
    for _ in range(count):
        step = payload.varint()
        payload.check(step >= 1, "distance of a source is not larger than the one before")
        distance += step
        payload.check(distance <= min(stream.blocks, 65536), "a source is too far away")
        own = stream.own.get(stream.blocks - distance)
        payload.check(own is not None, "a source does not lie in the window")
        payload.check(len(own) > 0, "a source has no own content")
        sources.append(own)
    return sources

def read_references(payload, raw_size, sources):
    """Reads the references. Returns them and the size of the own content."""
    count = payload.varint()
    payload.check(1 <= count <= raw_size // 64, "number of references out of range")
    references, fronts, own_size = [], 0, raw_size
    for _ in range(count):
        front, length = payload.varint(), payload.varint()
        source, offset = payload.varint(), payload.varint()
        payload.check(length >= 64, "a reference is shorter than 64 bytes")
        payload.check(source < len(sources), "a reference to no source")
        payload.check(offset + length <= len(sources[source]), "a reference ends beyond its source")
        fronts, own_size = fronts + front, own_size - length
        payload.check(fronts <= own_size, "the references do not fit into the content")
        references.append((front, length, sources[source], offset))
    return references, own_size

def read_own_content(payload, size):
    kind = payload.number(1)
    payload.check(kind <= CODED, "unknown kind of own content")
    payload.check((kind == 0) == (size == 0), "kind 0 and size of the own content do not agree")
    if kind == CODED:
        payload.check(payload.left() < size, "coded payload is not shorter")
    return decode_payload(payload, kind, size, b"")

# ---- Coded streams -----------------------------------------------------------------------------
class Segment:
    """A segment of a byte stream."""
    def __init__(self, size, mode, byte=None, table=None):
        self.size, self.mode, self.byte, self.table = size, mode, byte, table
        self.data = None

def read_coded_streams(payload, most):
    """Reads all six byte streams together. most has the limit of each."""
    segments = {name: read_segment_heads(payload, name, most[name]) for name in STREAMS}
    every = [segment for name in STREAMS for segment in segments[name]]
    read_coded_symbols(payload, [segment for segment in every if segment.mode == 2])
    for segment in every:
        if segment.mode == 0:
            segment.data = payload.take(segment.size)
        elif segment.mode == 1:
            segment.data = segment.byte * segment.size
    return {name: b"".join(segment.data for segment in segments[name]) for name in STREAMS}

def read_segment_heads(payload, name, most):
    left = payload.varint()
    payload.check(left <= most, "the byte stream %s is too long" % name)
    segments = []
    while left > 0:
        segments.append(read_segment_head(payload, name, left))
        left -= segments[-1].size
    return segments

def read_segment_head(payload, name, left):
    head = payload.number(1)
    mode = head & 3
    payload.check(head < 16 and mode != 3, "unknown mode or bit of a segment head")
    size = left
    if not head & 4:
        size = payload.varint()
        payload.check(4096 <= size < left, "number of symbols of a segment out of range")
    if head & 8:
        payload.check(mode == 2 and name in DEFAULT_TABLES, "a default table is not valid here")
        return Segment(size, mode, table=default_table(name))
    if mode == 1:
        return Segment(size, mode, byte=payload.take(1))
    if mode == 2:
        return Segment(size, mode, table=read_frequency_table(payload))
    return Segment(size, mode)

# ---- Frequency table ---------------------------------------------------------------------------
class Table:
    """A frequency table: f and c of each symbol, and the symbol of each slot."""
    def __init__(self, f):
        self.f, self.c, self.symbol = f, [], []
        for s in range(256):
            self.c.append(len(self.symbol))
            self.symbol += [s] * f[s]

def read_frequency_table(reader):
    f, total = [], 0
    bits = BitString(reader)
    while total < 2048:
        kind = bits.field(4)
        reader.check(kind != 0, "class 0 in a frequency table")
        if kind <= 11:
            f.append(1 << kind - 1 | bits.field(kind - 1))
            total += f[-1]
        elif kind <= 14:
            f += [0] * (kind - 11)
        else:
            f += [0] * (3 + read_run(bits))
        reader.check(len(f) <= 256, "a symbol above 255 in a frequency table")
        reader.check(total <= 2048, "the sum of a frequency table is too large")
    bits.finish()
    reader.check(max(f) < 2048, "a frequency of 2048")
    return Table(f + [0] * (256 - len(f)))

def read_run(bits):
    """Reads n of class 15."""
    k = 0
    while bits.field(1) == 0:
        k += 1
        bits.reader.check(k < 8, "a run in a frequency table is too long")
    return 1 << k | bits.field(k)

# ---- Default tables ----------------------------------------------------------------------------
DEFAULT_TABLES = {
    "Lits":
        "c3 33 82 ad 16 8f c7 a0 a8 9e 22 c4 4c a3 4d 51 5f 60 ab b2 ba be ba ae aa a6 a6 a2 "
        "a2 80 3e 51 69 e4 08 da 40 9a 89 d3 30 d0 42 cc 13 85 30 07 85 48 9d 84 94 22 86 18 "
        "82 2a 0f 2a 33 66 0d 03 f5 b5 26 8e 19 69 66 0d 5c 72 8d 91 e9 92 5b ce b3 52 40 a7 "
        "55 0d 83 18 e3 a1 c7 43 0f",
    "Tokens":
        "31 0b 5a 0c 41 09 d2 44 89 59 d0 62 14 43 c8 20 86 88 31 08 62 0c 11 53 0c 31 84 08 "
        "11 22 22 22 22 44 44 44 44 98 a0 94 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 "
        "88 88 88 88 88 88 88 88 88 88 88 88 88 88 20 44 88 88 88 88 88 88 88 88 88 88 88 88 "
        "88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 08 11 21 c8 93 a4 9b af 20 9e "
        "6b ba 82 76 b3 f9 02 ca b1 66 a9 f3 5d a6 28 e3 01 06 08 83 d5 d2 69 b0 55 36 c9 fa "
        "9a 41 1a a8 18 64 6d 81 14 55 54 21 c8 34 11 44 92 08 e2 ed 65 05 77 03",
    "Offsets":
        "cf ca 0b ab 4b 4f 30 6f de fa 4d 47 9d 74 cf 55 37 9d 74 d2 41 07 5d 74 cf 15 77 1c "
        "72 85 59 b3 76 ad 1a 30 60 a1 9e 4c 26 53 87 61 18 22 22 22 22 22 22 00",
    "LitLens":
        "38 c6 2a b2 90 84 04 24 5c 76 83 69 93 c6 ec 18 b1 61 a1 be b8 ae ac a6 80 4e 26 d2 "
        "68 24 0a 89 42 99 09 f3 44 18 a7 69 90 83 94 83 94 52 08 29 84 10 42 08 11 42 08 11 "
        "21 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 "
        "22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 "
        "22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 "
        "22 22 22 22 22 22 22 22 22 22 22 24",
    "MatchLens":
        "68 c2 c3 d5 07 df 77 d0 29 c7 d8 b6 6a cd 92 29 93 56 ad da 32 51 59 5b 58 51 54 51 "
        "55 55 55 41 26 93 a9 34 22 85 40 21 50 08 f3 3c 53 e6 71 1e c7 71 9a 06 12 65 90 72 "
        "18 86 41 4a 29 07 29 c5 20 84 10 42 08 21 a5 14 42 08 21 84 10 42 84 88 88 88 88 88 "
        "88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 "
        "88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 "
        "88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 88 28 00",
}

def default_table(name):
    data = bytes.fromhex(DEFAULT_TABLES[name])
    return read_frequency_table(Reader(data, 0, len(data), "default table ends too early"))

# ---- Lane groups -------------------------------------------------------------------------------
class LaneGroup:
    """The states of the lanes and the words that they share."""
    def __init__(self, payload, lanes):
        size = payload.varint()
        payload.check(size % 2 == 0, "words have an odd size")
        self.states = []
        for _ in range(lanes):
            self.states.append(payload.number(4))
            in_range = 1 << 15 <= self.states[-1] < 1 << 31
            payload.check(in_range, "initial state out of range")
        self.words = payload.part(size, "a lane group has too few words")

    def step(self, lane, table):
        """Decodes one symbol."""
        x = self.states[lane]
        slot = x & 2047
        s = table.symbol[slot]
        x = table.f[s] * (x >> 11) + slot - table.c[s]
        if x < 1 << 15:
            x = x << 16 | self.words.number(2)
        self.states[lane] = x
        return s

    def finish(self):
        right = all(state == 1 << 15 for state in self.states)
        self.words.check(right, "a lane does not end with the state 2^15")
        self.words.check(self.words.left() == 0, "not all words of a lane group are used")

def groups_of(n):
    """The end of each lane group in the coded symbols, and the number of its lanes."""
    if n == 0:
        return [], 0
    if n < 8192:
        return [n], 4
    count = 2 * -(-n // (1 << 19))
    ends = [(n * k // count + 31) // 32 * 32 for k in range(1, count)]
    return ends + [n], 32

def read_coded_symbols(payload, segments):
    """Decodes the lane groups. The segments are those with mode 2, in order."""
    ends, lanes = groups_of(sum(segment.size for segment in segments))
    for segment in segments:
        segment.data = bytearray()
    at, rest = 0, iter(segments)
    segment = next(rest, None)
    for end in ends:
        group = LaneGroup(payload, lanes)
        while at < end:
            if len(segment.data) == segment.size:
                segment = next(rest)
            count = min(end - at, segment.size - len(segment.data))
            segment.data += bytes(group.step(i % lanes, segment.table) for i in range(count))
            at += count
        group.finish()

# ---- Context-coded streams ---------------------------------------------------------------------
class ContextSegment:
    """A segment of a context-coded stream. tables has the table of each context."""
    def __init__(self, begin, size, tables):
        self.begin, self.size, self.tables = begin, size, tables

    def pieces(self, lanes):
        """Begin and size of the piece of each lane."""
        pieces, at = [], self.begin
        for lane in range(lanes):
            size = self.size // lanes + (lane < self.size % lanes)
            pieces.append((at, size))
            at += size
        return pieces

def read_context_coded(payload, most, streams):
    """Reads a context-coded stream. With streams it is Lits, which has marks."""
    n = payload.varint()
    payload.check(1 <= n <= most, "length of a context-coded stream out of range")
    first, second = read_maps(payload)
    marks = bytearray(n) if streams is None else marks_of(payload, streams, n)
    segments, begin = [], 0
    while begin < n:
        segments.append(read_context_segment(payload, begin, n - begin))
        begin += segments[-1].size
    out, groups = bytearray(n), 1 if n < 8192 else 2
    for number in range(groups):
        group = LaneGroup(payload, 32)
        for segment in segments:
            pieces = segment.pieces(32 * groups)[32 * number:32 * number + 32]
            decode_pieces(group, segment, pieces, out, marks, first, second)
        group.finish()
    return out

def read_maps(payload):
    l = payload.number(1)
    payload.check(l <= 8, "maps of contexts: more than 8 bits")
    if l == 0:
        return list(range(256)), [0] * 256
    if l == 8:
        return [0] * 256, list(range(256))
    bits = BitString(payload)
    first = [bits.field(8 - l) << l for _ in range(256)]
    second = [bits.field(l) for _ in range(256)]
    return first, second

def read_context_segment(payload, begin, left):
    size = payload.varint()
    payload.check(size == left or 16384 <= size < left, "size of a segment out of range")
    n = payload.number(1)
    payload.check(1 <= n <= 32, "number of tables out of range")
    b = (n - 1).bit_length()
    bits = BitString(payload)
    numbers = [bits.field(b) for _ in range(257)]
    bits.finish()
    payload.check(max(numbers) < n, "a context has no table")
    tables = [read_frequency_table(payload) for _ in range(n)]
    return ContextSegment(begin, size, [tables[number] for number in numbers])

def decode_pieces(group, segment, pieces, out, marks, first, second):
    """Decodes the pieces of the 32 lanes of a group, in rounds."""
    longest = max(size for _, size in pieces)
    for turn in range(longest):
        for lane, (begin, size) in enumerate(pieces):
            if turn < size:
                context = context_at(begin, turn, out, marks, first, second)
                out[begin + turn] = group.step(lane, segment.tables[context])

def context_at(begin, turn, out, marks, first, second):
    at = begin + turn
    if turn == 0 or marks[at]:
        return 256
    p_has_256 = turn == 1 or marks[at - 1]
    q = 0 if p_has_256 else out[at - 2]
    return first[out[at - 1]] + second[q]

# ---- The command -------------------------------------------------------------------------------
def main(arguments):
    named = len(arguments) == 3 and arguments[0] == "--dictionary"
    if len(arguments) != 1 and not named:
        sys.stderr.write(__doc__)
        return 2
    dictionary, name = None, arguments[-2 if named else -1]
    try:
        if named:
            dictionary = Dictionary(open(name, "rb").read())
        name = arguments[-1]
        decode_file(open(name, "rb").read(), sys.stdout.buffer.write, dictionary)
    except FormatError as error:
        sys.stdout.buffer.flush()
        sys.stderr.write("decode.py: %s: %s\n" % (name, error))
        return 1
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
