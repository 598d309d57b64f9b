import * as fc from 'fast-check'

/** A generated checklist: its text, and the numbers of its tasks and ticked tasks. */
export interface GeneratedChecklist {
  readonly text: string
  readonly tasks: number
  readonly done: number
}

interface GeneratedItem {
  readonly box: boolean | null
  readonly title: string
  readonly body: readonly string[]
  readonly below: readonly GeneratedItem[]
}

interface Style {
  readonly bullet: string
  readonly indent: string
  readonly end: string
}

/**
 * Words without a meaning in a list; some are multi-byte, and one is half a surrogate pair that stands for an invalid
 * byte.
 */
const words = fc
  .array(fc.constantFrom('add', 'tests', 'é', '✗', '\udcff', '*b*', '[x]', '`c`', '#', '- [ ]', '1.', '<b>'), {
    maxLength: 4,
  })
  .map(all => ['do', ...all].join(' '))

/** Lines that look like tasks but are none. */
const body = fc.constantFrom<readonly string[]>(
  [],
  ['more words'],
  ['', 'a paragraph  ', '', 'another'],
  ['```', '- [ ] in code', '```'],
  ['', '~~~~ md', '- [x] in code', '~~~', '~~~~'],
  ['<!-- - [ ] hidden -->'],
  ['', '<!--', '- [ ] hidden', '-->'],
  ['- plain', '- plainer'],
)

function generateItem(depth: number): fc.Arbitrary<GeneratedItem> {
  return fc.record({
    box: fc.option(fc.boolean(), { freq: 4 }),
    title: words,
    body,
    below: depth === 0 ? fc.constant([]) : fc.array(generateItem(depth - 1), { maxLength: 3 }),
  })
}

const style = fc.record({
  bullet: fc.constantFrom('-', '*', '+', '1.', '2)'),
  indent: fc.constantFrom('  ', '   ', '\t', '    '),
  end: fc.constantFrom('\n', '\r\n', '\r'),
})

const between = fc.constantFrom<readonly string[]>(
  [],
  [''],
  ['', '## A heading', ''],
  ['', 'Another', '===', ''],
  ['', '```', '- [ ] in code', '```', ''],
  ['', 'Words', '', '    - [ ] in code', ''],
  ['', '> a quotation', ''],
)

/**
 * Generates any nesting and any marks, with code and comments in between; a parent is ticked if all tasks below it are.
 */
export const checklists: fc.Arbitrary<GeneratedChecklist> = fc
  .record({
    parts: fc.array(fc.tuple(generateItem(4), between), { maxLength: 6 }),
    style,
    isEnded: fc.boolean(),
    bom: fc.boolean(),
  })
  .map(({ parts, style, isEnded, bom }) => {
    const lines = parts.flatMap(([item, after]) => [...linesOf(item, '', style), ...after])
    const text = (bom ? '\ufeff' : '') + lines.join(style.end) + (isEnded ? style.end : '')
    const leaves = parts.flatMap(([item]) => taskStates(item))
    return { text, tasks: leaves.length, done: leaves.filter(Boolean).length }
  })

function linesOf(item: GeneratedItem, indent: string, style: Style): string[] {
  const isParent = item.below.flatMap(taskStates).length > 0
  const isTicked = isParent ? item.below.flatMap(taskStates).every(Boolean) : item.box
  const box = item.box === null ? '' : `[${isTicked === true ? 'x' : ' '}] `
  // Two spaces suffice under a bullet; a number is wider.
  const inner = indent + (style.indent === '  ' && /\d/.test(style.bullet) ? '   ' : style.indent)
  const body = item.body.map(line => (line === '' ? '' : inner + line))
  return [
    `${indent}${style.bullet} ${box}${item.title}`,
    ...body,
    ...item.below.flatMap(other => linesOf(other, inner, style)),
  ]
}

/** Returns for each task whether it is done. */
function taskStates(item: GeneratedItem): boolean[] {
  const below = item.below.flatMap(taskStates)
  return below.length > 0 || item.box === null ? below : [item.box]
}
