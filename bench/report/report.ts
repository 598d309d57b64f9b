import { PM2_VERSION } from '../peers/install.ts'
import type { Machine } from './machine.ts'
import { isMet, type Row } from './row.ts'
import { markdownTable } from './table.ts'

/** Renders the committed report. Only the benchmark writes it. */
export function renderReport(rows: readonly Row[], machine: Machine, notMeasured: readonly string[]): string {
  return `# Benchmarks

Written by \`npm run bench -- ${machine.isQuick ? '--quick ' : ''}--write\` on ${machine.date}: ${machine.cores} cores, ${machine.memory}, ${machine.system}, Node ${machine.node},
${machine.tmux}, ${machine.load}. ${verdict(rows)}

${markdownTable(rows)}

Values are medians. With fewer than a hundred samples, p99 is the largest one. A ratio divides our value by the value beside it.
${notMeasured.map(reason => `\nNot measured: ${reason}\n`).join('')}
## Versions

![The ratios of the main figures over the versions](benchmark-series.svg)

[benchmark-series.json](benchmark-series.json) has the ratios of every version. A hollow point is a quick run. \`.ci/run\` calls
\`npm run bench -- --guard\`, which fails if a figure is more than 20 % worse than in the last run of that file.

## How it is measured

- The benchmark clones the product into a temporary folder and builds it there. Every peer has a home of its own. The
  benchmark measures compared programs in turn within one loop, so that a disturbance of the machine affects all of
  them. Look at ratios before you look at milliseconds.
- No process gets \`NODE_EXTRA_CA_CERTS\`: Node 20 reads the certificates at each start, which takes 38 ms and would hide
  the differences.
- **status, run, list**: wall time of the whole process, from spawn to exit, with output to /dev/null. \`run\` starts
  \`true\` headless and returns when it has started. \`./oneshot\` in a clone also checks whether a source file is newer than
  the build. pm2 is ${PM2_VERSION} from npm. The servers of pm2, tmux and oneshot run already.
- **a turn**: a real agent program, of the version shown, answers one prompt with one sentence of a scripted model on
  this machine. *Alone* is the program with the same arguments and files that oneshot gives it, from spawn to exit. Ours
  is the same turn as a session: from the call to the supervisor until the copy of the session that it writes after the
  commit to the database says that the session has ended. The sweep of the process tree is part of it. *Overhead* is the
  median of the differences within each round. *Outside the program* is the session's time before the program starts and
  after it exits, which does not vary with the program. \`run --follow\` is the wall time that a user waits.
- **agent dead → known**: from just before \`kill -9\` of the agent to the time in the event \`attempt.ended\`, which has
  whole milliseconds. *On disk*: until the supervisor removes the shim's mailbox entry, which it does after the
  synchronous commit to the database.
- **agent killed → the next one’s first act**: every supervisor runs the same program, which first creates a file named
  after its pid. Each program has lived for more than a second, because the peers count a shorter life as a failure.
  oneshot restarts at once, as the peers do; before the next program starts, it has recorded on disk that one program
  died and that the next one starts. No peer records anything. The figures apply where oneshot may create a control
  group, as for root or in a delegated one; elsewhere the supervisor scans all processes and makes a second commit.
- **supervisor killed and started again**: \`kill -9\` of the process that would start the next program, half a second
  without it, and a start in the documented way: oneshot's keeper, runsvdir and s6-svscan do it by themselves; pm2 needs
  \`pm2 resurrect\` after \`pm2 save\`; the benchmark starts supervisord and the loop again. The program writes lines
  meanwhile and keeps a count. The row shows the number of copies that run afterwards, whether the supervisor notices
  the next death, and the number of lines that were lost.
- **output**: numbered lines of 100 bytes, written in chunks of 64,000 bytes. The writing program measures the MB/s. The
  benchmark compares the record with the written bytes.
- **checkpoint**: of a generated repository that is packed like a clone, with a quarter as many ignored files; from the
  call until the checkpoint is durable, in a running process. The *first* checkpoint of a session makes its private
  index from that of the last session here, or else from the user's; later ones use it. \`git status\` is a process of its own in the same working tree. All have the
  same warm caches.
- **memory**: smaps_rollup. Per session: private memory of its shim and an equal share of the tmux server. runit's
  runsv, with its share of runsvdir, is the smallest supervisor in the comparison.
- **idle CPU**: schedstat of daemon, keeper, tmux server and all shims, with their children, while 200 agents sleep.
- **supervisor killed**: from \`kill -9\` of the daemon until its successor answers for all sessions; then the benchmark
  kills an agent and waits until the successor has recorded that. It checks that every other agent is the same process.

A missed aim does not fail the run. A lost byte, a lost session or a leftover process does.
`
}

function verdict(rows: readonly Row[]): string {
  const known = rows.map(isMet).filter(met => met !== null)
  const missed = known.filter(met => !met).length
  return missed === 0 ? `All ${known.length} aims are met.` : `${missed} of ${known.length} aims are missed.`
}
