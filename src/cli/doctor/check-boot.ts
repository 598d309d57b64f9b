import { asker } from '../../world/os/boot/ask.ts'
import { type LoginPlace, loginPlace } from '../../world/os/boot/login-place.ts'
import { isKilledAtLogout, lingers, logoutRule } from '../../world/os/boot/logind.ts'
import { userName } from '../../world/os/boot/user-name.ts'
import type { Home } from '../../world/os/home.ts'
import { inspect, lingerHint, wayToInstall } from '../boot/inspect.ts'
import { findAnswering } from '../ensure-daemon.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** Whether work goes on by itself after a reboot. */
export async function checkBoot(home: Home, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const check = 'boot'
  const { installed, problems } = await inspect(home, env)
  if (problems.length > 0) return problems.map(({ message, hint }) => warning(check, message, hint))
  const [entry] = installed
  if (entry === undefined)
    return [note(check, 'after a reboot, work waits for your next command', await wayToInstall(home, env))]
  return [ok(check, `${entry.with} starts the supervisor${entry.noResume ? ', which holds all sessions' : ''}`)]
}

/** Whether work goes on after logout. Says nothing where there is no logind that could end it. */
export async function checkLogout(home: Home, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const ask = asker(env)
  const user = userName()
  const [rule, linger] = await Promise.all([logoutRule(ask), lingers(ask, user)])
  if (rule === null) return []
  const running = await findAnswering(home).catch(() => undefined) // What is wrong with the home is told elsewhere.
  const place = loginPlace(running?.pid ?? 'self')
  return [judgeLogout({ place, linger: linger === true, isKilled: isKilledAtLogout(rule, user) })]
}

/** Exported for its test. */
export function judgeLogout(facts: { place: LoginPlace; linger: boolean; isKilled: boolean }): Finding {
  const check = 'logout'
  if (facts.place === 'manager' && !facts.linger) {
    return warning(
      check,
      'the supervisor belongs to your service manager, which ends at your last logout with all it has started',
      lingerHint(),
    )
  }
  if (facts.place === 'session' && facts.isKilled) {
    const way = 'systemd-run --user --scope oneshot daemon restart'
    return warning(
      check,
      'logind ends all your processes, sessions included, when you log out (KillUserProcesses=yes)',
      facts.linger ? `when no work runs: ${way}` : `${lingerHint()}; then, when no work runs: ${way}`,
    )
  }
  return ok(check, 'work continues when you log out')
}
