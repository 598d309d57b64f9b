import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { TaskView } from '../../src/api/contract/responses.ts'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import type { Answer, ToolCall } from '../../testkit/model/script.ts'
import { waitUntil } from '../system/test-home.ts'
import type { AgentTestHome } from './kit/agent-test-home.ts'
import { runArguments, IS_QUICK, KINDS } from './kit/kinds.ts'
import type { Kind } from './kit/programs.ts'
import { useAgentTest } from './kit/agent-test.ts'

const stage = useAgentTest()

const [FIRST, SECOND] = ['bd-a1: write tests', 'fix it']

/** A way to make a program keep a plan of two steps: it starts the first one and then completes it. */
interface Way {
  readonly plans: readonly (readonly ToolCall[])[]
  readonly prepare?: (testHome: AgentTestHome) => void
  readonly args?: readonly string[]
  /** The state of the second step at the end. */
  readonly second?: TaskView['state']
}

function inWhole(tool: string, list: string, words: string, more: object = {}): ToolCall[][] {
  const plan = (first: string, second: string): ToolCall[] => {
    const steps = [
      { [words]: FIRST, status: first, ...more },
      { [words]: SECOND, status: second, ...more },
    ]
    return [{ tool, input: { [list]: steps } }]
  }
  return [plan('in_progress', 'pending'), plan('completed', 'in_progress')]
}

/** claude 2.1.325 gives its newest models no plan to keep unless it is told to. */
const todoTools = (testHome: AgentTestHome): void => {
  testHome.env['CLAUDE_CODE_ENABLE_TODO_TOOLS'] = '1'
}

const NUMBERED: Way = {
  plans: [
    [FIRST, SECOND].map(subject => ({ tool: 'TaskCreate', input: { subject, description: 'as it says' } })),
    [{ tool: 'TaskUpdate', input: { taskId: '1', status: 'completed' } }],
  ],
  prepare: todoTools,
  second: 'open',
}

const TODOS: Way = {
  plans: inWhole('TodoWrite', 'todos', 'content', { activeForm: 'Working' }),
  prepare: testHome => {
    todoTools(testHome)
    testHome.env['CLAUDE_CODE_ENABLE_TASKS'] = '0'
  },
}

const WAYS: readonly (readonly [kind: Kind, how: string, way: Way])[] = [
  ['claude', 'tasks', NUMBERED],
  ['claude', 'todos', TODOS],
  ['claude-old', 'tasks', NUMBERED],
  ['claude-old', 'todos', TODOS],
  [
    'codex',
    'a plan',
    {
      plans: inWhole('update_plan', 'plan', 'step'),
      prepare: testHome =>
        fs.appendFileSync(`${testHome.root}/.codex/config.toml`, '[tools.update_plan]\nenabled = true\n'),
      second: 'open',
    },
  ],
  ['opencode', 'todos', { plans: inWhole('todowrite', 'todos', 'content', { priority: 'high' }) }],
  // gemini 0.61 offers it to the models of the second generation alone.
  ['gemini', 'todos', { plans: inWhole('write_todos', 'todos', 'description'), args: ['--model', 'gemini-2.5-flash'] }],
]

const ways = WAYS.filter(([kind]) => KINDS.includes(kind))

function furnish(kind: Kind, { prepare }: Way, task: readonly Answer[]): { house: AgentTestHome; beads: BeadsProject } {
  const testHome = stage.openHome(kind, { task })
  prepare?.(testHome)
  const beads = new BeadsProject(testHome.project)
  beads.create('write tests')
  testHome.env['ONESHOT_BEADS'] = 'true'
  testHome.env['PATH'] = `${testHome.env['PATH']}:${installFakeBd(testHome.root)}`
  return { house: testHome, beads }
}

const told = (all: readonly TaskView[]): string[] =>
  all.filter(({ source }) => source === 'agent').map(({ title, state }) => `${title}: ${state}`)

describe.each(ways)('%s with %s', (kind, _, way) => {
  test('shows its plan as the tasks of the session, and oneshot closes an issue that it finished', async () => {
    const plans = way.plans.map((call): Answer => ({ call }))
    const { house: testHome, beads } = furnish(kind, way, [...plans, { say: 'All done.' }])
    const { name, id } = await testHome.run(...runArguments(kind), ...(way.args ?? []), '--name', 'plan', 'Do it.')
    expect(await testHome.ended(name), await testHome.ok('log', name)).toMatchObject({ outcome: 'done' })
    const all = await testHome.json<TaskView[]>('tasks', name)
    expect(told(all).toSorted()).toEqual([`${FIRST}: done`, `${SECOND}: ${way.second ?? 'doing'}`])
    await waitUntil('the issue is closed', () => (beads.status('bd-a1') === 'closed' ? true : undefined))
    expect(beads.lines('closed')).toEqual([`bd-a1 finished by ${name}, oneshot session ${id}`])
  })

  // This starts each program a second time; a quick run skips it.
  test.skipIf(IS_QUICK)('keeps its plan after a kill and a restart', async () => {
    const [first = [], second = []] = way.plans
    const { house: testHome } = furnish(kind, way, [
      { call: first },
      { gate: 'go', call: second },
      { say: 'All done.' },
    ])
    const { name } = await testHome.run(...runArguments(kind), ...(way.args ?? []), '--name', 'plan', 'Do it.')
    await stage.server.until('main', turns => turns.length >= 2)
    const planned = async (): Promise<string[]> => told(await testHome.json<TaskView[]>('tasks', name))
    await waitUntil('it is listed', async () => ((await planned()).length === 2 ? true : undefined))
    process.kill((await testHome.status(name)).pid ?? 0, 'SIGKILL')
    stage.server.openGate('go')
    expect(await testHome.ended(name), await testHome.ok('log', name)).toMatchObject({ outcome: 'done', attempt: 2 })
    expect((await planned()).toSorted()).toEqual([`${FIRST}: done`, `${SECOND}: ${way.second ?? 'doing'}`])
  })
})
