import { createRunCommand } from '../../world/boot/boot-manager.ts'
import { type LoginScope, readLoginScope } from '../../world/boot/logind.ts'
import { isKilledAtLogout, isLingerEnabled, readLogoutRule } from '../../world/boot/logind.ts'
import { currentUserName } from '../../world/boot/boot-manager.ts'
import type { Home } from '../../state/home.ts'
import { inspectBoot, lingerHint, installHint } from '../boot/inspect.ts'
import { findRespondingDaemon } from '../daemon/start-and-stop-daemon.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** Checks if work continues by itself after a reboot. */
export async function checkBoot(home: Home, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const check = 'boot'
  const { installed, problems } = await inspectBoot(home, env)
  if (problems.length > 0) return problems.map(({ message, hint }) => warning(check, message, hint))
  const [entry] = installed
  if (entry === undefined)
    return [note(check, 'after a reboot, work waits for your next command', await installHint(home, env))]
  return [ok(check, `${entry.with} starts the supervisor${entry.noResume ? ', which holds all sessions' : ''}`)]
}

/** Checks if work continues after logout. It reports nothing on a machine without logind, which could end the work. */
export async function checkLogout(home: Home, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const ask = createRunCommand(env)
  const user = currentUserName()
  const [rule, linger] = await Promise.all([readLogoutRule(ask), isLingerEnabled(ask, user)])
  if (rule === null) return []
  const running = await findRespondingDaemon(home).catch(() => undefined) // Another check reports problems of the home.
  const scope = readLoginScope(running?.pid ?? 'self')
  return [evaluateLogout({ place: scope, linger: linger === true, isKilled: isKilledAtLogout(rule, user) })]
}

/** Exported for its test. */
export function evaluateLogout(facts: { place: LoginScope; linger: boolean; isKilled: boolean }): Finding {
  const check = 'logout'
  if (facts.place === 'manager' && !facts.linger) {
    return warning(
      check,
      'the supervisor belongs to your service manager, which ends at your last logout with all it has started',
      lingerHint(),
    )
  }
  if (facts.place === 'session' && facts.isKilled) {
    const command = 'systemd-run --user --scope oneshot daemon restart'
    return warning(
      check,
      'logind ends all your processes, sessions included, when you log out (KillUserProcesses=yes)',
      facts.linger ? `when no work runs: ${command}` : `${lingerHint()}; then, when no work runs: ${command}`,
    )
  }
  return ok(check, 'work continues when you log out')
}
