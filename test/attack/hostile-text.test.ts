import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { toJson } from '../../src/cli/terminal/format.ts'
import { parseCheckpointRecord } from '../../src/core/checkpoint/record.ts'
import { findFailureLines } from '../../src/core/policy/verify.ts'
import { findIncludes, extractTargets } from '../../src/core/tampering/makefile.ts'
import { parseTestFile } from '../../src/core/tampering/test-file.ts'
import { parseOrderNotes } from '../../src/core/loop/list/checklist.ts'
import { markChecklist, readChecklist } from '../../src/core/loop/list/checklist.ts'
import { parseOutline } from '../../src/lib/markdown/outline.ts'
import { parseBytes } from '../../src/lib/bytes.ts'
import { truncateToWidth, displayWidth } from '../../src/lib/text/display-width.ts'
import { matchesGlob } from '../../src/lib/text/glob.ts'
import { escapeInJson, excerptOf } from '../../src/lib/text/invisible-characters.ts'
import { splitCompleteLines } from '../../src/lib/text/split-lines.ts'
import { maskAndTruncate } from '../../src/lib/mask/mask.ts'
import { findEnvSecrets } from '../../src/lib/mask/env-secrets.ts'
import { Mask } from '../../src/lib/mask/mask.ts'
import { decodeRawPath, encodeRawPath, parentFolders, displayPath } from '../../src/lib/text/raw-path.ts'
import { slugify } from '../../src/lib/text/slug.ts'
import { splitShellWords } from '../../src/lib/text/shell-words.ts'
import {
  stripControls,
  toOneLine,
  renderTerminalText,
  escapeControls,
} from '../../src/lib/text/strip-terminal-controls.ts'
import { parseDuration } from '../../src/lib/time.ts'
import { stripCredentials } from '../../src/lib/mask/strip-url-credentials.ts'
import { knownAgents } from '../../src/world/agents/agents.ts'
import { readableResult } from '../../src/world/agents/claude/tools.ts'
import { extractPrompts } from '../../src/world/agents/claude/find-thread.ts'
import { classifyError as codexFailure } from '../../src/world/agents/codex/failure.ts'
import { classifyError as geminiFailure } from '../../src/world/agents/gemini/failure.ts'
import { classifyError as opencodeFailure } from '../../src/world/agents/opencode/failure.ts'
import { classifyError as piFailure } from '../../src/world/agents/pi/failure.ts'
import { parseObject } from '../../src/world/agents/shared/tolerant-json.ts'
import { summarizeInput } from '../../src/world/agents/shared/transcript-lines.ts'
import { parseMessage, parseRecord } from '../../src/world/git/checkpoint/commit-message.ts'
import { readYaml } from '../../src/world/task-list/yaml-tasks.ts'
import { testSize } from '../../testkit/system/test-size.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { countSteps } from './count-steps.ts'
import { attackSize } from './attack-size.ts'

/** Pieces on which expressions and loops have stumbled, or may. */
const PIECES = [
  ' (file state is current in your context',
  '[Subagent hand-back] ',
  '[Subagent hand-back]The report follows:\n ',
  '\nagentId: x (use',
  '<command-name>',
  '<command-args></command-arg',
  '<task ',
  '\n<task_result ',
  'permission requested: ',
  'token count ',
  'model ',
  'retry in 1.1.1.',
  'Reconnecting////',
  '"retryDelay":     ',
  'try again in 1 ',
  '\u001b[31m',
  '\u001b[31m\u0008',
  'x\u0008',
  '\u001b]0;',
  '\u001b[0;0;',
  '\u001bP',
  '\r',
  ' ',
  'password ',
  'password="',
  '://a:',
  'eyJ',
  'sk-',
  '-----BEGIN PRIVATE KEY-----',
  'Error: ',
  'Atask ',
  '{"a":[',
]

/** The same for lists, files and messages. */
const MORE_PIECES = [
  ...PIECES,
  '[',
  '{"a":',
  '\0',
  '\ud800',
  '\n',
  '\t- [ ] ',
  '- [ ] a\n',
  '- [x] a\n  ',
  '<!--',
  '<!-- -->',
  '```',
  '```\n',
  '# a\n',
  'a: ',
  '- a: &x [*x, ',
  '- title: a\n',
  '"',
  "'",
  '\\',
  '\\\n',
  '$(a ',
  'test: ',
  'test:\n\t',
  '[a.b]\n',
  'a.b = {a=',
  'Oneshot-Nested: a commit b\n',
  'Oneshot-Left-Out: %',
  '%25',
  '*',
  '**/',
  '*a',
  '{a,',
  'include ',
  ' \u2028',
  '(after ',
  '(after“',
  'exit ',
  '  exit  ',
  'def test_a(:',
  '#[test::',
  "trap '",
  'die ',
  'it("',
  '/*',
  '`${',
  '::',
  'éé',
  '修',
]

const text = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length))

/** Eight times the text may take some more than eight times the steps, never sixty-four times. */
const TIMES = 8
const MOST_GROWTH = 2 * TIMES

/** Steps are the same in each run and on each machine, so that short texts are enough to see a square. */
function expectLinear(
  work: (size: number) => () => void,
  what: string,
  size = attackSize(1_000, 8_000),
): { readonly small: number; readonly large: number } {
  const [small, large] = [countSteps(work(size)), countSteps(work(TIMES * size))]
  if (large > MOST_GROWTH * small)
    expect.fail(`${what}: ${TIMES} times the text takes ${(large / small).toFixed(1)} times as many steps (${large})`)
  return { small, large }
}

const NOW = 1_767_312_000_000
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a terminal, plain': nasty => renderTerminalText(nasty, { colour: false }),
  'a terminal, in colour': nasty => renderTerminalText(nasty, { colour: true }),
  'one line': toOneLine,
  'the mask': nasty => new Mask(['correct-horse']).maskText(nasty),
  'lines of failure': nasty => findFailureLines(nasty.split('\n')),
  'answers of tools': readableResult,
  'prompts of claude': nasty =>
    extractPrompts(
      Buffer.from(`${JSON.stringify({ type: 'user', message: { content: `<command-name>${nasty}` } })}\n`),
    ),
  'failures of codex': nasty => codexFailure(nasty, NOW),
  'failures of gemini': nasty => geminiFailure(nasty, NOW),
  'failures of opencode': nasty => opencodeFailure({ data: { message: nasty } }, NOW),
  'failures of pi': nasty => piFailure(nasty, NOW),
  'a line of ours': nasty => stripControls(nasty, { colour: true }),
  'a file on a terminal': nasty => escapeControls(nasty),
  'JSON on a terminal': nasty => toJson({ nasty }),
  'the width of a text': nasty => [displayWidth(nasty), truncateToWidth(nasty, 80)],
  'a name': nasty => slugify(nasty, 'x'),
  'words of a command': splitShellWords,
  'a path': nasty => [decodeRawPath(nasty), encodeRawPath(nasty), displayPath(nasty), parentFolders(nasty)],
  'a path against a pattern': nasty => matchesGlob(nasty, '**/*.test.ts'),
  'a pattern against a path': nasty => matchesGlob('a'.repeat(60), nasty),
  'an address with a login': stripCredentials,
  'a makefile': nasty => [extractTargets(nasty, ['', 'test']), findIncludes(nasty)],
  'the end of a task’s title': nasty => parseOrderNotes(nasty, [nasty]),
  'an invisible text': nasty => [excerptOf(nasty, 200), escapeInJson(nasty)],
  ...Object.fromEntries(
    ['a.test.ts', 'test_a.py', 'a_test.go', 'a_spec.rb', 'a.rs', 'aTest.php', 'a.bats', 'aTest.java'].map(name => [
      `tests in ${name}`,
      (nasty: string) => parseTestFile(name, nasty),
    ]),
  ),
  'a duration or a size': nasty => [parseDuration(nasty), parseBytes(nasty)],
  'a text without secrets': nasty => new Mask(findEnvSecrets({ API_KEY: nasty.slice(0, 100_000) })).maskText(nasty),
  'the beginning of a text': nasty => maskAndTruncate(nasty, 120, new Mask()),
  'a checklist': nasty => {
    const [first] = readChecklist(nasty).items
    return first === undefined ? nasty : markChecklist(nasty, [{ key: first.key, isDone: true, reason: '' }])
  },
  'the outline of a list': parseOutline,
  'a list in YAML': orRefused(readYaml),
  'a config file': orRefused(nasty => parseToml(nasty.slice(0, 65_536))),
  'the message of a checkpoint': nasty => [parseMessage(nasty), parseRecord(nasty)],
  'the record of a checkpoint': parseCheckpointRecord,
  'lines of output': nasty => splitCompleteLines(Buffer.from(nasty)),
  'a line of JSON': parseObject,
  'the input of a tool': nasty => summarizeInput({ command: nasty, nested: [nasty] }),
}

describe('the count of steps', () => {
  const nasty = (size: number): string => 'a'.repeat(size)
  const planted: [string, (text: string) => unknown][] = [
    [
      'a loop',
      text =>
        Array.from(text, (_, at) => {
          for (let n = 0; n < at; n++) if (n < 0) return n
          return at
        }),
    ],
    ['a loop that searches', text => Array.from(text, () => text.indexOf('b'))],
    ['a loop that copies', text => Array.from(text).reduce<string[]>((known, letter) => [...known, letter], [])],
    ['an expression', text => /a+b/.test(text)],
    ['an expression that looks for an end', text => /a\s*[^]*?b/.test(text)],
    ['an expression that matches often', text => text.replace(/a(?=[^]*b)|a/g, '')],
  ]
  it.each(planted)(
    'grows with the square of the text for a slow reader (%s), and is the same in the next run',
    (_, read) => {
      const work = (size: number) => (): void => void read(nasty(size))
      expect(() => expectLinear(work, 'planted', 1_000)).toThrow(/8 times the text takes [3-6]\d/)
      expect(countSteps(work(1_000))).toBe(countSteps(work(1_000)))
    },
  )
})

it('readYaml reads a list with very many keys in steps that grow with its length', () => {
  expectLinear(size => {
    const nasty = Array.from({ length: size / 10 }, (_, n) => `k${n}: 1\n`).join('')
    return () => void readYaml(nasty)
  }, 'keys')
})

/** Returns every twelfth piece for `npm test`, and all pieces for `npm run test:all`. */
function sample(pieces: readonly string[]): readonly string[] {
  return pieces.filter((_, place) => place % testSize(12, 1) === 0)
}

/** Returns a reader that gives null for a text that it refuses: it has read that text, too. */
function orRefused(read: (text: string) => unknown): (text: string) => unknown {
  return nasty => {
    try {
      return read(nasty)
    } catch {
      return null
    }
  }
}

describe.each(Object.entries(READERS))('the reader of %s', (name, read) => {
  it('takes steps that grow with the length of a hostile text and not with its square', () => {
    for (const piece of sample(MORE_PIECES)) {
      expectLinear(
        size => {
          const nasty = text(piece, size)
          return () => void read(nasty)
        },
        `${name}, ${JSON.stringify(piece)}`,
      )
    }
  })
})

/** Events of each program, with the text wherever one may stand. */
const EVENTS: Readonly<Record<string, (text: string) => readonly unknown[]>> = {
  claude: nasty => [
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'a', content: nasty }] } },
    { type: 'user', message: { content: nasty } },
    { type: 'assistant', message: { content: [{ type: 'text', text: nasty }] } },
    {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', id: 'a', name: nasty, input: { command: nasty } }] },
    },
    { type: 'system', subtype: 'informational', level: 'warning', content: nasty },
    { type: 'result', subtype: 'error_during_execution', is_error: true, result: nasty, errors: [nasty] },
  ],
  codex: nasty => [
    { type: 'error', message: nasty },
    { type: 'turn.failed', error: { message: nasty } },
    { type: 'item.completed', item: { type: 'agent_message', text: nasty } },
    { type: 'item.completed', item: { type: 'command_execution', id: 'a', command: nasty, aggregated_output: nasty } },
  ],
  gemini: nasty => [
    { type: 'message', role: 'assistant', content: nasty },
    { type: 'tool_use', tool_id: 'a', tool_name: 'x', parameters: { command: nasty } },
    { type: 'tool_result', tool_id: 'a', output: nasty, status: 'error' },
    { type: 'error', message: nasty },
    { type: 'result', status: 'error', error: { message: nasty } },
  ],
  opencode: nasty => [
    { type: 'text', part: { text: nasty } },
    {
      type: 'tool_use',
      part: { tool: 'task', callID: 'a', state: { status: 'completed', output: nasty, input: { command: nasty } } },
    },
    { type: 'error', error: { data: { message: nasty } } },
  ],
  pi: nasty => [
    {
      type: 'message_end',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: nasty }],
        stopReason: 'error',
        errorMessage: nasty,
      },
    },
    {
      type: 'tool_execution_end',
      toolCallId: 'a',
      result: { content: [{ type: 'text', text: nasty }] },
      isError: true,
    },
    { type: 'auto_retry_start', errorMessage: nasty },
  ],
}

/** Reads each line with a text of this size in it, and explains the end of a program that complained with it. */
function reading(kind: string, piece: string, size: number): () => void {
  const agent = knownAgents({ demoArgv: [], demoThreads: '', loopArgv: [], thin: '' })(kind)
  const nasty = text(piece, size)
  const lines = [...(EVENTS[kind]?.(nasty) ?? []).map(event => JSON.stringify(event)), nasty]
  const exit = { kind: 'code', code: 1 } as const
  const ending = { exit, word: null, stderr: nasty.slice(0, 65_536), memory: {}, env: { HOME: '/nowhere' } }
  return () => {
    for (const line of lines) agent.readLine?.(line, {})
    agent.explainExit?.(ending)
  }
}

describe.each(Object.keys(EVENTS))('the reader of output of %s', kind => {
  it('reads hostile output and explains the exit in steps that grow with its length and not with its square', () => {
    for (const piece of sample(PIECES))
      expectLinear(size => reading(kind, piece, size), `${kind}, ${JSON.stringify(piece)}`)
  })

  /** There are up to seven lines with the text. Matched in whole, they took 29 to 71 steps for each character. */
  const MOST_PER_CHARACTER = kind === 'pi' ? 10 : 28
  /** No longer line is read. */
  const longest = attackSize(1_048_576, 67_108_864)
  forCases(
    [' (file state is current in your context', 'password: '],
    1,
    `reads a line of ${longest / 1_024} KB of %j in a few steps for each character`,
    piece => {
      const { large } = expectLinear(size => reading(kind, piece, size), `${kind}, ${piece}`, longest / TIMES)
      expect(large).toBeGreaterThan(longest)
      // Long texts are cut before anybody matches them: each character is parsed, and little more.
      expect(large).toBeLessThan(MOST_PER_CHARACTER * longest)
    },
  )
})
