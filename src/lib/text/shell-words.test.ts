import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatCommandLine, quoteShellWord, splitShellWords } from './shell-words.ts'

const strings = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '(', ')', '`', '\n', ' ', '*', '~', '#', '!', '-', 'a', '%', ';'),
  }),
  fc.string({ unit: 'binary' }).map(text => Buffer.from(text.replaceAll('\0', '')).toString()),
)

/** Returns the words that a real shell passes to a program, one line per word, each in JSON quotes. */
function asShellReads(line: string): string[] {
  const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const script = `exec ${quoteShellWord(process.execPath)} -e ${quoteShellWord(program)} -- ${line}`
  return JSON.parse(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout)
}

test('a quoted word reaches a program unchanged, whatever its content', () => {
  const words = fc.sample(strings, 300)
  expect(asShellReads(words.map(quoteShellWord).join(' '))).toEqual(words)
})

test('a command line for people reads back as the same words', () => {
  const words = fc.sample(strings, 300)
  expect(asShellReads(formatCommandLine(words))).toEqual(words)
})

test('words that need no quotes have none', () => {
  expect(formatCommandLine(['pytest', 'tests/', '-v', '--cov=src', 'a b', ''])).toBe(
    "pytest tests/ -v --cov=src 'a b' ''",
  )
})

test.each([
  ['', []],
  ['  ', []],
  ['deploy --now', ['deploy', '--now']],
  [' a\t b\nc ', ['a', 'b', 'c']],
  [`say 'two words' "and three more"`, ['say', 'two words', 'and three more']],
  [`it'"'s one`, ['it"s', 'one']],
  [`it"'"s one`, ["it's", 'one']],
  [`a'' '' ""`, ['a', '', '']],
  [`"a \\"b\\" \\n \\\\"`, ['a "b" \\n \\']],
  [`a\\ b \\'`, ['a b', "'"]],
  ['echo $(reboot) $HOME `id` *', ['echo', '$(reboot)', '$HOME', '`id`', '*']],
  ["no 'end", undefined],
  ['no "end\\"', undefined],
  ['no end\\', undefined],
])('%j is %j', (command, words) => {
  expect(splitShellWords(command)).toEqual(words)
})

test('splitShellWords recovers all words that quoteShellWord quoted', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), words => {
      expect(splitShellWords(formatCommandLine(words))).toEqual(words)
    }),
  )
})
