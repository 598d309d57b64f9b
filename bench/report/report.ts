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

Values are medians; p99 of fewer than a hundred samples is the largest of them. Ratios are ours to what stands beside it.
${notMeasured.map(reason => `\nNot measured: ${reason}\n`).join('')}
## How it is measured

- The product is cloned into a temporary folder and built there. Every peer has a home of its own. What is compared is
  measured in turn within one loop, so that noise hits all alike; look at ratios before you look at milliseconds.
- \`NODE_EXTRA_CA_CERTS\` is left out of every process's environment: Node 20 reads the certificates at each start, which
  takes 38 ms and would hide what we want to see.
- **status, run, list**: wall time of the whole process, from spawn to exit, output to /dev/null. \`run\` starts
  \`true\` headless and returns when it has started. \`./oneshot\` in a clone also looks whether a source is newer than the
  build. pm2 is ${PM2_VERSION} from npm; it and tmux have their servers running, as we have ours.
- **a turn**: a real agent program, of the version shown, answers one prompt with one sentence of a scripted model on
  this machine. *Alone* is the program as we would start it, with the same words and files, from spawn to exit; ours is
  the same as a session, from the call to the supervisor until a copy of the session, written after the commit to the
  database, says that it has ended, seen by inotify. Nothing of the turn is left by then: the sweep is part of it.
  *Overhead* is the median of the differences within each round; *outside the program* is the session's time before the
  program began and after it ended, which its own ups and downs do not touch. \`run --follow\` is what a person waits for:
  wall time of that process, with its own start.
- **agent dead → known**: from just before \`kill -9\` of the agent to the time in the event \`attempt.ended\`, which has
  whole milliseconds; *and on disk*: until the shim's letter is taken from the mailbox, which follows the synchronous
  commit to the database, seen by inotify.
- **agent killed → the next one's first act**: the same program under each, whose first act is a file named after its pid,
  seen by inotify. Each has lived for more than a second, for the peers take a shorter life for a flaw. Ours is told to
  start it again at once, as they are; by then it has written down, synchronously, that the one died and that the other
  begins. None of the others writes anything down. The figures hold where a control group may be made, as for root or in a
  delegated one; elsewhere all processes are looked through and a second commit follows.
- **supervisor killed and started again**: \`kill -9\` of the process that would start the next program, half a second
  without it, and a start in the documented way: our keeper does it; runsvdir and s6-svscan do it by themselves; \`pm2
  resurrect\` after \`pm2 save\`; supervisord and the loop are started again. The program talks meanwhile and notes what it
  says. Told are the copies that run then, whether a death of the first is followed by another start, and how many of its
  lines nobody kept. runit, s6 and the loop let it write into a file, pm2 and supervisord read a pipe.
- **output**: numbered lines of 100 bytes, written in 64,000-byte chunks; MB/s as the writing program measures them.
  The record is compared with what was written, byte for byte.
- **checkpoint**: of a repository that was made for it, packed as a clone is, with a quarter as many ignored files; from the call
  until it is durable, in a process that is running. *The first* of a session makes its private index from the user's; the
  others find it. \`git status\` is a process of its own in the same working tree. All have the same warm caches.
- **memory**: smaps_rollup. Per session: private memory of its shim and an equal share of the whole tmux server. runit's
  runsv with its share of runsvdir is the smallest supervisor that was at hand.
- **idle CPU**: schedstat of daemon, keeper, tmux server and all shims, with waited-for children. 200 agents sleep.
- **supervisor killed**: \`kill -9\` of the daemon until its successor answers with a higher epoch for all 200 sessions;
  then an agent is killed, until the successor has recorded that. Every other agent is checked to be the same process.

A missed aim is shown and does not fail the run; a lost byte, a lost session or a process left behind does.
`
}

function verdict(rows: readonly Row[]): string {
  const known = rows.map(isMet).filter(met => met !== null)
  const missed = known.filter(met => !met).length
  return missed === 0 ? `All ${known.length} aims are met.` : `${missed} of ${known.length} aims are missed.`
}
