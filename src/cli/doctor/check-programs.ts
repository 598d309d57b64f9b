import { which } from '../../world/os/which.ts'
import { type Finding, failure, note, ok } from './finding.ts'
import { probe } from './probe.ts'
import { isAtLeast, tmuxVersion } from './tmux-version.ts'

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0])
  if (major >= 20) return ok('node', `Node ${version}`)
  return failure('node', `Node ${version} is too old`, 'install Node 20 or newer')
}

export async function checkTmux(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding> {
  const program = which('tmux', env, cwd)
  if (program === undefined) return failure('tmux', 'tmux is not on PATH', 'install tmux 3.2 or newer')
  const text = await probe(program, '-V', env)
  const version = tmuxVersion(text)
  if (version === undefined) return note('tmux', `${text || 'a tmux of unknown version'} at ${program}`)
  if (!isAtLeast(version, 3, 2)) return failure('tmux', `${text} is too old`, 'install tmux 3.2 or newer')
  return ok('tmux', `${text} at ${program}`)
}

export function checkTools(env: NodeJS.ProcessEnv, cwd: string): Finding[] {
  return [
    { name: 'setsid', without: 'processes are identified by process group only' },
    { name: 'flock', without: 'a second copy of an attempt is kept out by its claim file only' },
  ].map(({ name, without }) => {
    const program = which(name, env, cwd)
    return program === undefined ? note(name, `not found; ${without}`) : ok(name, program)
  })
}
