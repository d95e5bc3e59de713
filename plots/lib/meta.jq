# SPDX-License-Identifier: BSD-3-Clause
# meta.json as lines "key TAB value", key like machine.cpu or compilers.0.name; of every array also
# its length, as compilers.n. First come the checks: one line "error TAB what" and nothing else.
# --arg ascii yes: for the text report, every other character is replaced.

def must($path; $kind):
  getpath($path | split(".")) | type | select(. != $kind)
  | "\($path) is \(if . == "null" then "missing" else "a " + . end), not a \($kind)";

def problems:
  if type != "object" then "it is not a JSON object"
  else
    (must("kit"; "object"), must("machine"; "object"), must("device"; "object"),
     must("measure"; "object"), must("scenario"; "object"), must("compilers"; "array"),
     must("dpdk"; "array"), must("date_utc"; "string"), must("question"; "string")) end;

def deeper_problems:
  must("device.kind"; "string"), must("device.name"; "string"),
  must("measure.baseline"; "string"), must("measure.margin_percent"; "number"),
  must("measure.variants"; "array"), must("measure.cc"; "array"),
  (if .measure.margin_percent | (type == "number" and . < 0)
   then "measure.margin_percent is negative" else empty end),
  (if .compilers | all(type == "object") | not then "compilers holds something else than objects"
   else empty end),
  (if .dpdk | all(type == "object") | not then "dpdk holds something else than objects"
   else empty end);

def plain:
  if . < 32 or . == 127 then " "
  elif . < 127 then [.] | implode
  else {"160": " ", "174": "(R)", "181": "u", "215": "x", "956": "u", "8211": "-", "8212": "-",
        "8216": "'", "8217": "'", "8220": "\"", "8221": "\"", "8230": "...", "8482": "(TM)"
       }[tostring] // "?" end;

# Control characters, and those that turn the direction of text around, become spaces.
def tidy:
  if $ascii == "yes" then explode | map(plain) | join("")
  else explode | map(if . < 32 or (. >= 127 and . < 160) or (. >= 8232 and . <= 8238)
                        or (. >= 8294 and . <= 8297) then 32 else . end) | implode end;

([problems][0] // [deeper_problems][0]) as $problem
| if $problem then "error\t\($problem)"
  else
    (paths(type != "object" and type != "array") as $p
     | "\($p | map(tostring) | join(".") | tidy)\t\(getpath($p) | if . == null then "-" else tostring end | tidy)"),
    (paths(type == "array") as $p | "\($p | map(tostring) | join(".") | tidy).n\t\(getpath($p) | length)")
  end
