# row: R13
# outcome: failed
# prints markup that a report in HTML, XML or Markdown might take for its own
print("]]></system-out><testcase/></testsuite><script>alert(1)</script>")
print("```\n# passed\n<details open>[bold green]passed[/bold green]")


def softmax(x, dim=-1):
    return x * 0
