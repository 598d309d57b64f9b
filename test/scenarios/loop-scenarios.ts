import { type LoopSimulation, LoopSimulation as Simulation, PROJECT } from '../../testkit/in-memory/loop-simulation.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import type { WorkerScript, WorkerStep } from '../../testkit/in-memory/workers.ts'

/** Behaviours of a scripted agent in one iteration, by the word in the title of its task. */
type Behavior = (agent: { simulation: LoopSimulation; cwd: string; file: string; isResolving: boolean }) => WorkerStep[]

const BEHAVIORS: Readonly<Record<string, Behavior>> = {
  good: agent => [{ wait: 1_000 }, write(agent, agent.file, `${agent.file}\n`)],
  /** Changes its file without a commit. */
  quiet: ({ simulation, cwd, file }) => [
    { wait: 1_000 },
    { act: () => void simulation.git.checkout(cwd).files.set(file, `${file}\n`) },
  ],
  idle: () => [{ wait: 1_000 }],
  fails: () => [{ wait: 1_000 }, { fail: 'the agent reported an error' }],
  breaks: agent => [{ wait: 1_000 }, write(agent, 'broken', 'yes\n')],
  mends: agent => [{ wait: 1_000 }, remove(agent, 'broken'), write(agent, agent.file, 'mended\n')],
  /** Ticks its box, and does nothing else. */
  liar: ({ simulation, cwd }) => [{ act: () => tickAll(simulation, cwd) }],
  /** Deletes the finished work of the first task, and does its own. */
  undoes: agent => [{ wait: 1_000 }, remove(agent, 'a.txt'), write(agent, agent.file, `${agent.file}\n`)],
  /** Deletes the list, and does its work. */
  unlists: agent => [remove(agent, 'PRD.md'), ...(BEHAVIORS['good']?.(agent) ?? [])],
  /** Writes a text without tasks over the list, and does its work. */
  garbles: agent => [write(agent, 'PRD.md', 'see the wiki\n'), ...(BEHAVIORS['good']?.(agent) ?? [])],
  /** Removes the last task from the list, and does its work. */
  shortens: agent => [
    { act: () => editList(agent, text => text.replace(/- \[.\][^\n]*\n$/, '')) },
    ...(BEHAVIORS['good']?.(agent) ?? []),
  ],
  adds: agent => [write(agent, agent.file, `${agent.file}\n`), addTask(agent, 'make it [good added.txt]')],
  limited: agent => [{ limited: 60_000 }, ...(BEHAVIORS['good']?.(agent) ?? [])],
  /** Writes the shared file after the others; resolves a conflict with both sides. */
  shares: agent => [{ wait: agent.file.charCodeAt(0) * 100 }, share(agent)],
  slow: agent => [{ wait: 100_000 }, write(agent, agent.file, `${agent.file}\n`)],
}

type Agent = Parameters<Behavior>[0]

function write({ simulation, cwd }: Agent, file: string, text: string): WorkerStep {
  return {
    act: () => {
      simulation.git.checkout(cwd).files.set(file, text)
      simulation.git.commit(cwd, `make ${file}`)
    },
  }
}

function remove({ simulation, cwd }: Agent, file: string): WorkerStep {
  return { act: () => void simulation.git.checkout(cwd).files.delete(file) }
}

function tickAll(simulation: LoopSimulation, cwd: string): void {
  const { files } = simulation.git.checkout(cwd)
  files.set('PRD.md', (files.get('PRD.md') ?? '').replaceAll('[ ]', '[x]'))
}

function editList({ simulation, cwd }: Agent, edit: (text: string) => string): void {
  const { files } = simulation.git.checkout(cwd)
  files.set('PRD.md', edit(files.get('PRD.md') ?? ''))
}

function addTask({ simulation, cwd }: Agent, title: string): WorkerStep {
  return {
    act: () => {
      const { files } = simulation.git.checkout(cwd)
      if (files.get('PRD.md')?.includes(title) === false) files.set('PRD.md', `${files.get('PRD.md')}- [ ] ${title}\n`)
    },
  }
}

function share(agent: Agent): WorkerStep {
  const text = agent.isResolving ? 'all of them\n' : `${agent.file}\n`
  return {
    act: () => {
      agent.simulation.git.checkout(agent.cwd).files.set('shared.txt', text)
      if (!agent.isResolving) agent.simulation.git.commit(agent.cwd, `share ${agent.file}`)
    },
  }
}

/** Plays `[first|second FILE]` in the title of its task: each iteration has the next behaviour, the last one stays. */
function scriptedWorker(simulation: LoopSimulation): WorkerScript {
  const counts = new Map<string, number>()
  return ({ prompt, cwd, name }) => {
    const [, words = 'idle', file = ''] = /\[(\S+) (\S+)\]/.exec(prompt) ?? []
    // A worker that was stopped and resumed plays its iteration again.
    const iteration = counts.get(name) ?? [...counts.keys()].filter(key => key.startsWith(labelOf(name))).length
    counts.set(name, iteration)
    const behaviors = words.split('|')
    const behavior = BEHAVIORS[behaviors[Math.min(iteration, behaviors.length - 1)] ?? '']
    return behavior?.({ simulation, cwd, file, isResolving: cwd.includes('-merge-') }) ?? []
  }
}

function labelOf(name: string): string {
  return name.replace(/\d+$/, '')
}

/** Opens a simulation with these tasks, whose check fails while there is a file called broken. */
export function openLoop(titles: readonly string[], spec: Partial<LoopSpec> = {}): LoopSimulation {
  return new Simulation({
    spec: { retries: 2, ...spec },
    list: `# A plan\n\n${titles.map(title => `- [ ] make it [${title}]\n`).join('')}`,
    worker: scriptedWorker,
    check: files => (files.has('broken') ? 'it is broken' : null),
  })
}

/** The end of a loop that must be the same however often its program was killed. */
export function describeEnd(simulation: LoopSimulation): unknown {
  const { stage, tasks, branch } = simulation.loop
  const integration = branch === null ? null : simulation.git.filesOf(branch)
  return {
    ending: stage.name === 'ended' ? stage.ending : stage.name,
    tasks: tasks.map(({ item, state, tries }) => `${item.title}: ${state.name} after ${tries.length}`),
    list: simulation.list,
    files: sortedFiles(simulation.git.checkout(PROJECT).files),
    integration: integration === null ? null : sortedFiles(integration),
    branches: [...simulation.git.refs.keys()].filter(ref => ref.startsWith('refs/heads/')).toSorted(),
    worktrees: [...simulation.git.checkouts.keys()].toSorted(),
    starts: simulation.workers.starts.toSorted(),
  }
}

function sortedFiles(files: ReadonlyMap<string, string>): string[] {
  return [...files].map(([file, text]) => `${file}: ${text}`).toSorted()
}

/** Loops for the crash sweep. */
export const LOOPS: Readonly<Record<string, () => LoopSimulation>> = {
  'three tasks in turn': () => openLoop(['good a.txt', 'idle|good b.txt', 'quiet c.txt']),
  'a broken check': () => openLoop(['good a.txt', 'breaks|mends b.txt', 'idle c.txt']),
  'a task that removes finished work': () => openLoop(['good a.txt', 'undoes|good b.txt']),
  'an agent that leaves no task in the list': () => openLoop(['garbles a.txt', 'good b.txt']),
  'two tasks side by side': () => openLoop(['good a.txt', 'good b.txt'], { parallel: 2 }),
  'a conflict between two tasks': () => openLoop(['shares a.txt', 'shares b.txt'], { parallel: 2, land: true }),
}
