import { which } from '../world/os/which.ts'

/** Programs that the supervisor itself runs. */
const OWN_PROGRAMS = ['tmux', 'git'] as const

/**
 * The supervisor keeps the PATH it was started with. Where that lacks a program which the caller's has, installed since or
 * elsewhere, the caller's folders are looked through as well from now on.
 */
export function adoptPath(caller: string | undefined, env: NodeJS.ProcessEnv): void {
  if (caller === undefined || caller === env['PATH']) return
  const isOnlyThere = (program: string): boolean =>
    which(program, env, '/') === undefined && which(program, { PATH: caller }, '/') !== undefined
  if (OWN_PROGRAMS.some(isOnlyThere)) env['PATH'] = [env['PATH'], caller].filter(Boolean).join(':')
}
