import { failedIterations } from './task-retries.ts'
import type { TaskFailure, Loop, LoopTask, WorkerRole } from './loop-state.ts'

/** The information for a worker beside its task. */
export interface PromptContext {
  /** The newest commits, newest first. */
  readonly log: readonly { readonly id: string; readonly subject: string }[]
  /** The whole list, if the worker cannot read it itself. */
  readonly list: string | null
}

/** Returns the prompt for a fresh agent that works on one task and knows only the files and git. */
export function taskPrompt(loop: Loop, task: LoopTask, role: WorkerRole, context: PromptContext): string {
  const parts = [
    role === 'resolve' ? mergeIntroduction(loop, task) : introduction(loop, task),
    section(`The task: ${task.item.label}`, taskText(task)),
    role === 'resolve' ? '' : noChangeReminder(task),
    section(
      'Rules',
      rules(loop, role)
        .map(rule => `- ${rule}`)
        .join('\n'),
    ),
    section('Earlier attempts', role === 'resolve' ? '' : earlierIterations(task)),
    section('Newest commits', context.log.map(({ id, subject }) => `${id.slice(0, 10)} ${subject}`).join('\n')),
    section('The whole list, for context', context.list ?? ''),
  ]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

/** Returns the prompt for an agent that makes a list out of an idea. */
export function planPrompt(loop: Loop, idea: string): string {
  const list = loop.spec.list ?? 'PRD.md'
  const failure = loop.plan.at(-2)?.failure
  const parts = [
    `Plan: ${idea.trim().split('\n')[0] ?? ''}`,
    'Plan this work, but do not start it. Other agents will do it, one task each. They will know only the files.',
    section('The idea', idea),
    section(
      'What to do',
      [
        `Read the files that exist. Then write ${list}. Describe in a few paragraphs what to build and how it must behave. Below the`,
        'heading "## Tasks" write a checklist of the tasks, one line each, like this:',
        '',
        '- [ ] The parser reads a file and reports mistakes with their line (with tests)',
        '',
        'An agent must be able to finish and test each task by itself within an hour, and the project must work after each task. Each',
        'task says how to see that it is done. The first task makes the project run, with a first test. Order the tasks so that each one',
        'comes after the tasks that it needs. If a task needs another one for a different reason, write that at the end of its line:',
        '(after 3). Write no code, tick no box, and commit the list.',
      ].join('\n'),
    ),
    section('What was wrong with the last plan', failure?.reason ?? ''),
  ]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

function section(title: string, text: string): string {
  return text.trim() === '' ? '' : `# ${title}\n${text.trim()}`
}

/** People also recognise the session by the first line. */
function introduction({ spec }: Loop, { item }: LoopTask): string {
  const list = spec.list === null ? 'the project’s task tracker' : spec.list
  return `Task ${item.label} of ${list}: ${item.title}\n\nWork on this task only. You have not seen this project before: its files and git show the work so far.`
}

function mergeIntroduction({ branch }: Loop, { conflicts, checkout, tries }: LoopTask): string {
  const failure = tries.at(-2)?.failure
  const where =
    conflicts.length === 0 ? '' : ` These files contain both sides, with conflict markers: ${conflicts.join(', ')}.`
  return [
    `Resolve a merge conflict. The branch ${checkout?.branch ?? 'to merge'} holds the work on the task below. Meanwhile other tasks were merged into ${branch}.`,
    `The merge has been started in this folder.${where} Keep the intent of both sides, and finish the merge with a commit.`,
    failure?.detail ? `\nThe automatic merge had this result:\n${failure.detail}` : '',
  ].join('\n')
}

function taskText({ item }: LoopTask): string {
  const part = item.path.length === 0 ? '' : `Part of: ${item.path.join(' › ')}\n\n`
  return `${part}${item.title}${item.body === '' ? '' : `\n\n${item.body}`}`
}

function rules({ spec, branch }: Loop, role: WorkerRole): string[] {
  const boxes = spec.list === null ? 'Close no issue' : `Tick no box in ${spec.list}`
  return [
    ...(role === 'resolve'
      ? []
      : ['Do this task and no other. Read the files and the git history first: part of the task may be done already.']),
    'If the task can be tested, write the test first, run it to see it fail, then make it pass.',
    ...(spec.check === null
      ? []
      : [
          `\`${spec.check.line}\` must pass at the end: oneshot runs it, and the task is not done while it fails. Do not remove, skip or rename tests, and do not change this check, its scripts or its settings: your work would not count.`,
        ]),
    `Commit after each working step, with a message that describes the step${branch === null ? ', on the current branch' : '; stay on this branch and in this folder'}.`,
    `${boxes}: oneshot does that after it has checked your work.`,
    'If the task cannot be done, leave no unfinished changes, and end with one sentence that says why.',
  ]
}

/** Reminds the agent to change files, after earlier agents only read them. */
function noChangeReminder(task: LoopTask): string {
  const idle = failedIterations(task).filter(({ failure }) => failure.kind === 'idle').length
  if (idle === 0) return ''
  const times = idle === 1 ? 'The agent before you' : `${idle} agents before you`
  return `${times} read the files and finished without changing any of them. Reading is not enough: change files now, and do not finish before \`git status\` or \`git log\` shows your work. If the task is already done, add a test that proves it.`
}

const MAX_LISTED_ITERATIONS = 3

function earlierIterations(task: LoopTask): string {
  return failedIterations(task)
    .slice(-MAX_LISTED_ITERATIONS)
    .map(({ iteration, failure }) => `Iteration ${iteration}: ${failure.reason}.${formatDetail(failure)}`)
    .join('\n')
}

function formatDetail({ detail }: TaskFailure): string {
  return detail.trim() === ''
    ? ''
    : `\n${detail
        .trim()
        .split('\n')
        .map(line => `    ${line}`)
        .join('\n')}`
}
