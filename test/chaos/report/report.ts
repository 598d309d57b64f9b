import type { Result } from './result.ts'
import { markdownOf } from './table.ts'

/** Renders the committed report. Only the suite writes it. */
export function reportOf(result: Result): string {
  const { machine, seed, kills, seconds, sessions, findings, skipped } = result
  const command = `npm run chaos -- --kills ${result.wanted} --seed ${seed} --sessions ${sessions} --write`
  const verdict =
    findings.all.length === 0 ? 'Every promise was kept.' : `A promise was broken ${findings.all.length} times.`
  return `# Chaos

Written by \`${command}\` on ${machine.date}: ${kills.toLocaleString('en')} kills in ${minutes(seconds)},
${sessions} sessions at a time; ${machine.cores} cores, ${machine.memory}, ${machine.system}, Node ${machine.node}, ${machine.tmux},
oneshot ${result.version}. **${verdict}**

${markdownOf(result)}

Recovery is counted from the blow to the moment named beside it; a p99 of fewer than a hundred samples is the largest of
them. The sessions are restarted almost without pauses (\`restart-delay\` 50 ms), so that it is not their patience which is
measured; an agent that dies while no supervisor is there waits for one. A supervisor that dies within five seconds of its
start is brought back after 1, 3, 7 … seconds, or at once by the next command or shim.
${skipped.map(reason => `\nLeft out: ${reason}.\n`).join('')}
## What is done

A fleet of scripted agents works, headless and on terminals of their own. Sessions begin and end all the time; some agents
write as fast as they can, some crash by themselves, some leave processes behind in process sessions of their own, some
ask. A user sends them messages, stops and resumes them, and repeats whatever was not answered. Meanwhile, a few times a
second, something is killed with \`kill -9\`, or suspended while another supervisor is started, or the disk is full for a
while, or the supervisors' clock is set by minutes to hours. A third of the blows are aimed: right after a launch, right
after a message was accepted, when an agent has just started, when one has just ended and is being swept. Victims are
found in oneshot's own records and hit by pid and birth.

All decisions (which fault, whom, when, what each session does) follow from the seed. What the machine makes of them does
not: two runs of one seed are two of a kind, not the same. A session is struck at most three times, so that most of the run
is not spent in the pauses before restarts.

## What is checked

Each agent keeps a journal of its own outside of all that oneshot writes: when it began, each line once it was written,
each tool it started, and when it had finished. Its conversation, with every message it was given, is its own file, too.

1. **No byte is lost.** Every line an agent says it has written is in the attempt's output once, in order, byte for byte;
   \`log --raw\` is the same bytes, and the transcript tells every line once.
2. **No message is lost or doubled.** What was accepted is what the agent's own conversation shows, in that order.
3. **One attempt, one supervisor.** An agent that begins looks whether anything of an earlier life is alive. A library
   inside the supervisors bears witness of every write into the database's journal: after a newer one has written, an
   older one never writes again. The epoch that answers never falls.
4. **No orphans.** When a session has ended, nothing that carries its marker or stands in its journal is alive; at the
   very end nothing of the whole run is.
5. **\`done\` has evidence**: the agent's journal says that it has finished, all messages read. What \`list\` shows is held
   against the process table twice a second.
6. **What is the user's stays as it was**: index, HEAD, branches, stash and files of a repository in which all of it
   happens, and a tmux server of theirs.
7. **What was said stays true**: a session that has ended goes on only for a message or a resume, and every session that
   was accepted comes to its end.
8. **Hostile output harms nobody.** Some agents repeat half a megabyte that a hostile tool gave back: text that slow
   expressions choke on, terminal commands, lines without end. The supervisor goes on answering, and \`log\` prints no
   control character.

## What is not lost but counted apart

A terminal's tmux server that is killed takes its program with it, and what it said in its last moments
(see [0001](decisions/0001-terminal-sessions-own-their-tmux-server.md)). So does a shim that is killed while the recorder
of its terminal is dead. Lines lost that way are counted in a row of their own.

The clock is set by a library that adds to the wall clock of supervisors, tmux and shims; files keep the machine's time.
Power is not cut: what a killed process wrote is in the kernel's memory, and that is not lost.
`
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`
}
