import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandLine, quote } from './quote.ts'

const strings = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '(', ')', '`', '\n', ' ', '*', '~', '#', '!', '-', 'a', '%', ';'),
  }),
  fc.string({ unit: 'binary' }).map(text => Buffer.from(text.replaceAll('\0', '')).toString()),
)

/** What a real shell hands to a program, one line per word, each in quotes of JSON. */
function asShellReads(line: string): string[] {
  const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const script = `exec ${quote(process.execPath)} -e ${quote(program)} -- ${line}`
  return JSON.parse(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout)
}

test('a quoted word reaches a program unchanged, whatever is in it', () => {
  const words = fc.sample(strings, 300)
  expect(asShellReads(words.map(quote).join(' '))).toEqual(words)
})

test('a command line for people reads back as the same words', () => {
  const words = fc.sample(strings, 300)
  expect(asShellReads(commandLine(words))).toEqual(words)
})

test('words that need no quotes have none', () => {
  expect(commandLine(['pytest', 'tests/', '-v', '--cov=src', 'a b', ''])).toBe("pytest tests/ -v --cov=src 'a b' ''")
})
