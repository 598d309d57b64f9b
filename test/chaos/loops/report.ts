import { describeMachine } from '../../../bench/report/machine.ts'
import type { Round, Victim } from './round.ts'

/** Label of each row of the report. */
const ROWS: Readonly<Record<Victim, string>> = {
  supervisor: 'the supervisor is killed',
  keeper: 'its keeper is killed',
  both: 'both are killed at once',
  loop: 'the program of the loop is killed',
  worker: 'an agent at work is killed',
  stop: 'the user stops and resumes the loop; half of the time the supervisor is killed as it resumes',
}

export interface LoopRun {
  readonly rounds: readonly Round[]
  readonly seed: number
  readonly seconds: number
  readonly commit: string
}

/** Renders the committed report. Only the suite writes it. */
export function reportOf({ rounds, seed, seconds, commit }: LoopRun): string {
  const machine = describeMachine(false)
  const findings = rounds.flatMap(round => round.findings)
  const count = (victim: Victim): number => rounds.reduce((sum, { kills }) => sum + kills[victim], 0)
  const victims = Object.keys(ROWS) as Victim[]
  const total = victims.map(count).reduce((sum, one) => sum + one, 0)
  const serial = rounds.filter(({ kind }) => kind === 'serial').length
  return `# Chaos for loops

\`npm run chaos -- --loops --rounds ${rounds.length} --seed ${seed} --write\` wrote this page on ${machine.date}, at commit ${commit}:
${rounds.length} loops (${serial} serial, ${rounds.length - serial} parallel) with ${total} kills in ${Math.round(seconds / 60)} min;
${machine.cores} cores, ${machine.memory}, ${machine.system}, Node ${machine.node}, ${machine.tmux}. **Findings: ${findings.length}.**

| fault | times |
|---|---|
${victims.map(victim => `| ${ROWS[victim]} | ${count(victim)} |`).join('\n')}

Each round is one loop over four to six tasks with a scripted agent and a check, serial or in two to three worktrees. While it runs,
something is killed with \`kill -9\` every 50 to 900 ms. Nobody types a command meanwhile, so the loop has to come back by itself;
only where a kill left no process of oneshot alive at all, the user starts the supervisor.
The seed decides all of it; what the machine makes of it may differ.

After each round the suite compares what the loop says with what is there:

1. The loop has ended as done, and the board shows every task done in one iteration.
2. The list has every box ticked, and not a byte else is changed.
3. Every file is in the checkout and in HEAD with the right content, committed once; after \`ralph land\` where worktrees were used.
4. The agents' own journal shows one session for each task: no task is lost, and none is worked on twice.
5. No process, worktree, branch or folder is left behind.
${findings.length === 0 ? '' : `\n## Findings\n\n${findings.map(finding => `- ${finding}`).join('\n')}\n`}`
}
