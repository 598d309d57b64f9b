import fs from 'node:fs'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toJson } from '../../src/cli/terminal/format.ts'
import { quoteShellWord } from '../../src/lib/text/shell-words.ts'
import {
  stripControls,
  toOneLine,
  renderTerminalText,
  escapeControls,
} from '../../src/lib/text/strip-terminal-controls.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, MAIN } from '../system/test-home.ts'
import { attackSize } from './attack-size.ts'

/** All that a terminal may obey. Colours, line ends and tabs are taken out before. */
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const COLOURS = /\u001b\[[0-9;:]*m/g

const PIECES = [
  '\u001b]52;c;aGk=\u0007',
  '\u001b[2J',
  '\u009b31m',
  '\u009d0;x\u009c',
  '\u202e',
  '\u2066',
  '\u200f',
  '\u061c',
  '\u2028',
  '\r',
  '\u0008',
  '\u001bP',
  '\u001b',
  '\u001b[31m',
  '\u001b[8m',
  'm',
  '[',
  ']',
  '0',
  ';',
  'a',
  '\u0085',
  '\u007f',
]
const nasty = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map(pieces => pieces.join(''))

describe('text that others wrote', () => {
  it.each([
    ['one line', (text: string) => toOneLine(text)],
    ['a page', (text: string) => renderTerminalText(text, { colour: false })],
    ['a line of ours', (text: string) => stripControls(text, { colour: false })],
    [
      'a line of ours, in colour',
      (text: string) => stripControls(text, { colour: true }).replace(/\u001b\[(?:0|1|2|3[1-6])m/g, ''),
    ],
    ['a page, in colour', (text: string) => renderTerminalText(text, { colour: true }).replace(COLOURS, '')],
    ['a file', (text: string) => escapeControls(text)],
    ['JSON', (text: string) => toJson(text)],
  ])('contains nothing that a terminal obeys when oneshot shows it as %s', (_, show) => {
    fc.assert(
      fc.property(nasty, text => {
        expect(show(text).replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(OBEYED)
      }),
      { numRuns: attackSize(2_000, 200_000) },
    )
  })

  it('keeps its meaning as JSON, and shows its hidden characters in a file', () => {
    fc.assert(fc.property(nasty, text => JSON.parse(toJson(text)) === text))
    expect(escapeControls('+good\r\u001b]0;x\u0007\u009b\u202e')).toBe('+good^M^[]0;x^G<9b><202e>')
  })
})

describe('the command line on a terminal', () => {
  let testHome: TestHome
  beforeEach(() => {
    testHome = new TestHome()
  })
  afterEach(() => testHome.close())

  it('prints titles, logs, diffs, the supervisor’s log and errors without sequences that the terminal obeys', async () => {
    const git = (...args: string[]): Promise<unknown> => run('git', args, { cwd: testHome.project, env: testHome.env })
    await git('init', '-q', '.')
    const evil = 'x\u001b]52;c;aGk=\u0007\u009b2J\u009d0;t\u009c\u202eevil'
    fs.writeFileSync(testHome.path('evil.sh'), `printf '%s\\n' '${evil}'; printf '%s\\n' '${evil}' >made\n`)
    const hook = `printf '%s' '${evil}' >&2; exit 1`
    await testHome.run('--name', 'bad', '--headless', '--on-exit-shell', hook, '--', 'sh', 'evil.sh', evil)
    await testHome.ended('command-bad')
    const lines = [['list'], ['status', 'bad'], ['log', 'bad'], ['diff', 'bad'], ['daemon', 'log'], ['status', evil]]
    for (const args of lines) {
      // A terminal whose every byte is kept.
      const command = [process.execPath, MAIN, ...args].map(quoteShellWord).join(' ')
      const answer = await run('script', ['-qec', command, '/dev/null'], {
        cwd: testHome.project,
        env: { ...testHome.env, NO_COLOR: '' },
      })
      const shown = answer.stdout.replace(COLOURS, '')
      expect(shown).not.toBe('')
      expect({ args, shown: shown.replaceAll(/[\r\n\t]/g, '') }).toEqual({
        args,
        shown: expect.not.stringMatching(OBEYED) as unknown,
      })
    }
  })

  it('diff shows lines that a file, or the repository’s configuration, would hide', async () => {
    const git = (...args: string[]): Promise<unknown> => run('git', args, { cwd: testHome.project, env: testHome.env })
    await git('init', '-q', '.')
    const settings = { 'color.diff.new': 'black black', 'diff.context': '0', 'diff.orderFile': '/dev/stdin' }
    for (const [key, value] of Object.entries(settings)) await git('config', key, value)
    const file = testHome.path('install.sh')
    fs.writeFileSync(file, 'one\ntwo\n')
    await testHome.run(
      '--name',
      'hide',
      '--headless',
      '--',
      'sh',
      '-c',
      String.raw`printf 'one\n\033[8mevil\033[0m\ntwo\n' >install.sh`,
    )
    await testHome.ended('command-hide')
    const command = [process.execPath, MAIN, 'diff', 'hide'].map(quoteShellWord).join(' ')
    const env = { ...testHome.env, NO_COLOR: '' }
    const { stdout } = await run('script', ['-qec', command, '/dev/null'], { cwd: testHome.project, env })
    const lines = stdout.replaceAll('\r', '').split('\n')
    expect(lines).toContain('\u001b[32m+^[[8mevil^[[0m\u001b[0m')
    expect(lines).toContain(' one')
  })
})
