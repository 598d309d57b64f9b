import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'smol-toml'
import { CHANNEL_TYPE_NAMES } from '../../src/api/config/channels.ts'
import { ALL_EVENTS, readChannels } from '../../src/api/config/channels.ts'
import { PROBLEMS } from '../../src/api/contract/problems.ts'
import { type CommandHeader, GROUPS } from '../../src/cli/args/command-definition.ts'
import { COMMAND_INDEX } from '../../src/cli/command-index.ts'
import { reference } from '../../src/cli/help/reference.ts'
import { COMMANDS } from '../../testkit/cli/commands.ts'
import { testNotification, environmentOf } from '../../src/core/notify/notification.ts'
import { DIRECTIVES } from '../../src/world/agents/demo/parse-directives.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, MAIN } from './test-home.ts'
import { userConfig } from './user-config.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
  const bin = path.join(testHome.root, 'bin')
  fs.mkdirSync(bin)
  fs.writeFileSync(path.join(bin, 'oneshot'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
  testHome.env['PATH'] = `${bin}:${process.env['PATH']}`
})
afterEach(() => testHome.close())

interface Step {
  readonly command: string
  readonly shows: string[]
}

/** The `$ command` lines of each console block, with what the page says they print. */
function consoleBlocks(page: string): Step[][] {
  return [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block]) => {
    const steps: Step[] = []
    for (const line of (block ?? '').trimEnd().split('\n')) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shows: [] })
      else steps.at(-1)?.shows.push(line)
    }
    return steps
  })
}

/** `…` stands for anything; on a line of its own for any number of lines. Columns may be wider than on the page. */
function pattern(lines: readonly string[]): RegExp {
  const escaped = lines.map(line =>
    line
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '.*')
      .replaceAll(/ +/g, ' +'),
  )
  return new RegExp(`^${escaped.join('\n').replaceAll(/^\.\*$/gm, '[\\s\\S]*')}$`)
}

describe.each([
  'README.md',
  'docs/demo-agent.md',
  'docs/notifications.md',
  'docs/checkpoints.md',
  'docs/project-files.md',
  'docs/ralph.md',
])('%s', page => {
  const blocks = consoleBlocks(read(page))
  it.each(blocks.map((steps, i) => [i + 1, steps] as const))(
    'shows the real output in console block %i',
    async (_, steps) => {
      for (const { command, shows } of steps) {
        const { code, stdout, stderr } = await run('sh', ['-c', command], {
          cwd: testHome.project,
          env: testHome.env,
          timeout: 60_000,
        })
        expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({ command, code: 0, stderr: '' })
        if (shows.length > 0) expect(stdout.trimEnd()).toMatch(pattern(shows))
      }
    },
  )

  it('has console blocks', () => expect(blocks.length).toBeGreaterThanOrEqual(1))
})

it('the reference page describes the commands as they are (npm run docs writes it)', () => {
  expect(read('docs/reference.md')).toBe(reference(COMMANDS))
})

it('the command index lists every file of src/cli/commands as it is (npm run docs writes it)', () => {
  const files = fs.readdirSync(path.join(root, 'src/cli/commands')).filter(name => !name.endsWith('.test.ts'))
  expect(COMMANDS.map(({ name }) => `${name.replace('__', '')}.ts`).toSorted()).toEqual(files.toSorted())
  const header = ({ name, aliases, group, summary }: CommandHeader): unknown => ({ name, aliases, group, summary })
  expect(COMMAND_INDEX.map(header)).toEqual(COMMANDS.map(header))
  const places = COMMANDS.map(({ group, order = 0 }) => [group === null ? GROUPS.length : GROUPS.indexOf(group), order])
  expect(places).toEqual(places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
})

it('the JSON contract page names exactly the fields that are printed', async () => {
  const documented = (heading: string, end: string): string[] => {
    const page = read('docs/json.md')
    const part = page.slice(page.indexOf(heading), end === '' ? undefined : page.indexOf(end))
    return [...part.matchAll(/^\| `(\w+)` \|(?! \w+, optional )/gm)].map(match => match[1] as string)
  }
  const session = await testHome.run('--headless', '--', 'true')
  expect(Object.keys(session).sort()).toEqual(documented('`oneshot list', '`oneshot daemon').sort())
  expect(Object.keys(await testHome.daemon()).sort()).toEqual(documented('`oneshot daemon', '`oneshot messages').sort())
  const listed = await testHome.list()
  expect(listed.map(view => Object.keys(view))).toEqual([Object.keys(session)])
  await testHome.run('--agent', 'demo', '--name', 'reader', 'steps=1 delay=1ms')
  const [prompt = {}] = await testHome.json<object[]>('messages', 'reader')
  expect(Object.keys(prompt).sort()).toEqual(documented('`oneshot messages', '`oneshot events').sort())
  const [first = {}] = await testHome.json<object[]>('events', 'reader')
  expect(Object.keys(first).sort()).toEqual(documented('`oneshot events', '## Checkpoints').sort())
  await run('git', ['init', '-q', '.'], { cwd: testHome.project })
  await testHome.json('checkpoint', 'reader')
  const [checkpoint = {}] = await testHome.json<object[]>('checkpoints', 'reader')
  expect(Object.keys(checkpoint).sort()).toEqual(documented('## Checkpoints', '## Errors').sort())
  await testHome.ok('tasks', 'reader', 'add', 'one')
  const [task = {}] = await testHome.json<object[]>('tasks', 'reader')
  expect(Object.keys(task).sort()).toEqual(documented('## Tasks', '## Other commands').sort())
  userConfig(testHome, '[notify.ring]\ntype = "bell"\n')
  const [channel = {}] = await testHome.json<object[]>('notify')
  expect(Object.keys(channel).sort()).toEqual(documented('## Channels', '').sort())
})

it('each example in the page about notifications is a valid channel, and each kind of channel has an example', () => {
  const blocks = [...read('docs/notifications.md').matchAll(/^```toml\n([\s\S]*?)^```$/gm)].map(
    ([, toml]) => toml ?? '',
  )
  const entries = readChannels(parse(blocks.join('\n'))['notify'], 'docs/notifications.md')
  expect([...new Set(entries.map(({ type }) => type))].sort()).toEqual([...CHANNEL_TYPE_NAMES].sort())
})

it('the page about notifications names every event, every field and every variable', () => {
  const page = read('docs/notifications.md')
  const words = [
    ...ALL_EVENTS,
    ...Object.keys(testNotification(0, []).document),
    ...Object.keys(environmentOf(testNotification(0, []).document)),
  ]
  const isMissing = (word: string): boolean => !page.includes(`\`${word}\``)
  expect(words.filter(isMissing)).toEqual([])
})

it('the JSON contract page names every error code, with the exit code it has', () => {
  const rows = [...read('docs/json.md').matchAll(/^\| (\d+) \| `([\w-]+)` \| .+ \|$/gm)]
  expect(Object.fromEntries(rows.map(([, exit, code]) => [code, Number(exit)]))).toEqual(PROBLEMS)
})

it('the page about the demo agent names each word that the agent understands', () => {
  const page = read('docs/demo-agent.md')
  expect(DIRECTIVES.filter(([word]) => !page.includes(`\`${word}\``))).toEqual([])
})

it('the page about attacks names tests that exist', () => {
  for (const row of read('docs/attacks.md')
    .split('\n')
    .filter(line => line.startsWith('| '))) {
    for (const [, file = '', titles = ''] of row.matchAll(
      /`((?:attack|system|contracts|scenarios|src)\/[^`]+)`(?:: ((?:"[^"]+"(?:, )?)+))?/g,
    )) {
      const source = read(file.startsWith('src/') ? file : `test/${file}.test.ts`)
      for (const [, title = ''] of titles.matchAll(/"([^"…]+)/g)) expect(source, `${file}: ${title}`).toContain(title)
    }
  }
})

it('each link in the pages leads to an existing file', () => {
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md']) {
    for (const [, target] of read(page).matchAll(/\]\((?!#|https?:)([^)#]+)[^)]*\)/g)) {
      expect(fs.existsSync(path.join(root, target as string)), `${page} → ${target}`).toBe(true)
    }
  }
})
