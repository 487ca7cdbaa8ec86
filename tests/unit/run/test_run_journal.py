"""What the morning report tells of note files."""

from pipelines.notes.folder import read_text
from pipelines.run.journal import dead_links


def test_links_of_an_index_that_lead_nowhere_are_named_and_those_out_of_the_folder_are_not() -> None:
    text = "- [Ferry](ferry.md): when\n- [Quay](quay.md#depth): how deep\n- [[crane]]: whose\n- [Guide](../guide.md)\n- [Site](https://example.org/a.md)\n"
    index = read_text(text, folder="port", path="MEMORY.md")[1]
    ferry = read_text("At nine.\n", folder="port", path="ferry.md")[1]
    assert dead_links([*index, *ferry], {n.uid for n in index}) == ("2 links of port/MEMORY.md lead nowhere: quay.md, crane.md",)
    assert dead_links([*index, *ferry], set()) == ()


def test_a_link_by_a_files_own_name_leads_there() -> None:
    index = read_text("- [[Ferry times]]: when\n- [[the-quay#depth]]: how deep\n- [[crane]]: whose\n", folder="port", path="MEMORY.md")[1]
    files = [*read_text("At nine.\n", folder="port", path="ferry_times.md")[1], *read_text("---\nname: The quay\n---\nDeep.\n", folder="port", path="q.md")[1]]
    elsewhere = read_text("Ours.\n", folder="other", path="crane.md")[1]
    assert dead_links([*index, *files, *elsewhere], {n.uid for n in index}) == ("1 link of port/MEMORY.md lead nowhere: crane.md",)
