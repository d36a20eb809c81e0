#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a result without the value of `host`; every other byte stays as it is."""

import json
import sys

SPACE = " \t\r\n"


def skip(text, at, characters=SPACE):
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def main():
    text = sys.stdin.read()
    decoder = json.JSONDecoder()
    at = skip(text, 0)
    if text[at : at + 1] != "{":
        sys.exit("error: the result is not a JSON object")
    at = skip(text, at + 1)
    host = None
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        begin = skip(text, at, SPACE + ":")
        _, at = decoder.raw_decode(text, begin)
        if key == "host":
            host = (begin, at)
        at = skip(text, at, SPACE + ",")
    if host is None:
        sys.exit("error: the result has no host")
    sys.stdout.write(text[: host[0]] + text[host[1] :])


main()
