import * as fc from 'fast-check'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTaskListItemFromMarkdown } from 'mdast-util-gfm-task-list-item'
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item'
import { expect, test } from 'vitest'
import { parseOutline } from './outline.ts'

/** Positions of the characters inside the boxes, as GitHub's Markdown has them. */
function boxesByMicromark(text: string): number[] {
  const tree = fromMarkdown(text, {
    extensions: [gfmTaskListItem()],
    mdastExtensions: [gfmTaskListItemFromMarkdown()],
  })
  const found: number[] = []
  const visit = (node: MarkdownNode): void => {
    if (typeof node.checked === 'boolean')
      found.push(text.lastIndexOf('[', (node.children?.[0]?.position?.start.offset ?? 0) - 1) + 1)
    for (const child of node.children ?? []) visit(child)
  }
  visit(tree as MarkdownNode)
  return found
}

interface MarkdownNode {
  readonly checked?: boolean | null
  readonly position?: { readonly start: { readonly offset?: number } }
  readonly children?: readonly MarkdownNode[]
}

const boxesByOutline = (text: string): number[] =>
  parseOutline(text).flatMap(({ box }) => (box === null ? [] : [box.at]))

const LINES = ['- [ ] a', '- [x] b', '  - [ ] c', '    - [X] d', '- plain', '# Heading', 'words', '']

test('parseOutline finds the same boxes as micromark in any list of usual lines', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...LINES), { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n'),
      (lines, lineEnd) => {
        const text = lines.join(lineEnd)
        expect(boxesByOutline(text)).toEqual(boxesByMicromark(text))
      },
    ),
    { numRuns: 300 },
  )
})

// The first column of each row says why the user's intent is clear although Markdown sees no box.
test.each([
  ['a numbered box that continues a paragraph', 'words\n2. [ ] a\n'],
  ['a box after a comment that nobody closed', '<!-- what\n\n- [ ] a\n'],
  ['a box inside an HTML block', '<div>\n- [ ] a\n</div>\n'],
])('parseOutline finds %s, which micromark does not', (_, text) => {
  expect([boxesByOutline(text).length, boxesByMicromark(text).length]).toEqual([1, 0])
})
