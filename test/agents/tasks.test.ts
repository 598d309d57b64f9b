import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { TaskView } from '../../src/api/contract/session-view.ts'
import { beadsBin, BeadsProject } from '../../src/testkit/beads/project.ts'
import type { Answer, ToolCall } from '../../src/testkit/model/script.ts'
import { until } from '../system/house.ts'
import type { AgentHouse } from './kit/agent-house.ts'
import { asked, IS_QUICK, KINDS } from './kit/kinds.ts'
import type { Kind } from './kit/programs.ts'
import { useStage } from './kit/stage.ts'

const stage = useStage()

const [FIRST, SECOND] = ['bd-a1: write tests', 'fix it']

/** How a program is had to keep a plan: two steps of which the first is begun, and then done. */
interface Way {
  readonly plans: readonly (readonly ToolCall[])[]
  readonly prepare?: (house: AgentHouse) => void
  readonly args?: readonly string[]
  /** What it tells of the second step at the end. */
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
const todoTools = (house: AgentHouse): void => {
  house.env['CLAUDE_CODE_ENABLE_TODO_TOOLS'] = '1'
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
  prepare: house => {
    todoTools(house)
    house.env['CLAUDE_CODE_ENABLE_TASKS'] = '0'
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
      prepare: house => fs.appendFileSync(`${house.root}/.codex/config.toml`, '[tools.update_plan]\nenabled = true\n'),
      second: 'open',
    },
  ],
  ['opencode', 'todos', { plans: inWhole('todowrite', 'todos', 'content', { priority: 'high' }) }],
  // gemini 0.61 offers it to the models of the second generation alone.
  ['gemini', 'todos', { plans: inWhole('write_todos', 'todos', 'description'), args: ['--model', 'gemini-2.5-flash'] }],
]

const ways = WAYS.filter(([kind]) => KINDS.includes(kind))

function furnish(kind: Kind, { prepare }: Way, task: readonly Answer[]): { house: AgentHouse; beads: BeadsProject } {
  const house = stage.furnish(kind, { task })
  prepare?.(house)
  const beads = new BeadsProject(house.project)
  beads.create('write tests')
  house.env['ONESHOT_BEADS'] = 'true'
  house.env['PATH'] = `${house.env['PATH']}:${beadsBin(house.root)}`
  return { house, beads }
}

const told = (all: readonly TaskView[]): string[] =>
  all.filter(({ source }) => source === 'agent').map(({ title, state }) => `${title}: ${state}`)

describe.each(ways)('%s with %s', (kind, _, way) => {
  test('has its plan shown as the session’s tasks, and an issue closed that it has finished', async () => {
    const plans = way.plans.map((call): Answer => ({ call }))
    const { house, beads } = furnish(kind, way, [...plans, { say: 'All done.' }])
    const { name, id } = await house.run(...asked(kind), ...(way.args ?? []), '--name', 'plan', 'Do it.')
    expect(await house.ended(name), await house.ok('log', name)).toMatchObject({ outcome: 'done' })
    const all = await house.json<TaskView[]>('tasks', name)
    expect(told(all).toSorted()).toEqual([`${FIRST}: done`, `${SECOND}: ${way.second ?? 'doing'}`])
    await until('the issue is closed', () => (beads.status('bd-a1') === 'closed' ? true : undefined))
    expect(beads.lines('closed')).toEqual([`bd-a1 finished by ${name}, oneshot session ${id}`])
  })

  // A second life of each program: a quick look does without.
  test.skipIf(IS_QUICK)('that is killed and goes on keeps the plan it had', async () => {
    const [first = [], second = []] = way.plans
    const { house } = furnish(kind, way, [{ call: first }, { gate: 'go', call: second }, { say: 'All done.' }])
    const { name } = await house.run(...asked(kind), ...(way.args ?? []), '--name', 'plan', 'Do it.')
    await stage.server.until('main', turns => turns.length >= 2)
    const planned = async (): Promise<string[]> => told(await house.json<TaskView[]>('tasks', name))
    await until('it is listed', async () => ((await planned()).length === 2 ? true : undefined))
    process.kill((await house.status(name)).pid ?? 0, 'SIGKILL')
    stage.server.openGate('go')
    expect(await house.ended(name), await house.ok('log', name)).toMatchObject({ outcome: 'done', attempt: 2 })
    expect((await planned()).toSorted()).toEqual([`${FIRST}: done`, `${SECOND}: ${way.second ?? 'doing'}`])
  })
})
