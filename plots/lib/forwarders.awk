# SPDX-License-Identifier: BSD-3-Clause
# The cross-check of the kit's forwarder with testpmd, forwarders.tsv, in words.

# forwarder_words(): what forwarded; empty in results of before there was a choice.
function forwarder_words() {
  if (M["measure.forwarder"] == "kit") return "the kit\047s own"
  if (M["measure.forwarder"] == "testpmd") return "the release\047s own testpmd"
  if (M["measure.forwarder"] == "both") return "the kit\047s own; beside it the release\047s own testpmd, for the cross-check"
  return ""
}

# forwarder_effect(i, which): "+1.2" of row i of forwarders.tsv, kit or testpmd; "-" where there is none.
function forwarder_effect(i, which) {
  if (!forwarder_known(i, which)) return "-"
  return signed(percent_of(FORWARDERS[i, which "_ratio"]), forwarder_decimals(i, which))
}

function forwarder_interval(i, which,    d) {
  if (!forwarder_known(i, which)) return "-"
  d = forwarder_decimals(i, which)
  return signed(percent_of(FORWARDERS[i, which "_low"]), d) " to " signed(percent_of(FORWARDERS[i, which "_high"]), d)
}

function forwarder_known(i, which) {
  return known(FORWARDERS[i, which "_ratio"]) && known(FORWARDERS[i, which "_low"]) && known(FORWARDERS[i, which "_high"])
}

function forwarder_decimals(i, which) {
  return decimals(percent_of(FORWARDERS[i, which "_low"]), percent_of(FORWARDERS[i, which "_high"]))
}

function agree_word(i) {
  if (FORWARDERS[i, "agree"] == "yes") return "agree"
  return FORWARDERS[i, "agree"] == "no" ? "disagree" : "-"
}

# forwarders_explained(): the criterion, and what the two figures are of.
function forwarders_explained() {
  return "Each is cycles per packet against " baseline " through that forwarder, %, with the 95 % interval. agree: the two intervals have a point in common; disagree: they have none." \
    (M["device.kind"] == "software" ? " Behind testpmd the software NIC is a thread on another CPU, behind the kit\047s forwarder it works between the timed bursts." : "")
}
