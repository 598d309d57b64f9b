import type { Deed } from './surroundings.ts'
import type { CommandName } from './table/command.ts'

/** What carries out each command, loaded only when it is wanted: starting up is most of what a short command costs. */
export const DEEDS: { readonly [N in CommandName]: () => Promise<Deed> } = {
  run: async () => (await import('./commands/run.ts')).run,
  send: async () => (await import('./commands/send.ts')).send,
  tasks: async () => (await import('./commands/tasks.ts')).tasks,
  resume: async () => (await import('./commands/resume.ts')).resume,
  hold: async () => (await import('./commands/hold.ts')).hold,
  attach: async () => (await import('./commands/attach.ts')).attach,
  stop: async () => (await import('./commands/stop.ts')).stop,
  killall: async () => (await import('./commands/killall.ts')).killall,
  wait: async () => (await import('./commands/wait.ts')).wait,
  clean: async () => (await import('./commands/clean.ts')).clean,
  list: async () => (await import('./commands/list.ts')).list,
  status: async () => (await import('./commands/status.ts')).status,
  log: async () => (await import('./commands/log.ts')).log,
  follow: async () => (await import('./commands/follow.ts')).follow,
  events: async () => (await import('./commands/events.ts')).events,
  messages: async () => (await import('./commands/messages.ts')).messages,
  daemon: async () => (await import('./commands/daemon.ts')).daemon,
  boot: async () => (await import('./commands/boot.ts')).boot,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  update: async () => (await import('./commands/update.ts')).update,
  config: async () => (await import('./commands/config.ts')).config,
  notify: async () => (await import('./commands/notify.ts')).notify,
  completion: async () => (await import('./commands/completion.ts')).completion,
  demo: async () => (await import('./commands/demo.ts')).demo,
  help: async () => (await import('./commands/help.ts')).help,
  version: async () => (await import('./commands/version.ts')).version,
  __complete: async () => (await import('./commands/complete.ts')).complete,
}
