import { expect, test } from 'vitest'
import { evaluateLogout } from './check-boot-and-logout.ts'

test.each([
  [{ place: 'session', linger: false, isKilled: false }, 'ok', undefined],
  [{ place: 'elsewhere', linger: false, isKilled: true }, 'ok', undefined],
  [{ place: 'manager', linger: true, isKilled: true }, 'ok', undefined],
  [{ place: 'manager', linger: false, isKilled: false }, 'warning', /^loginctl enable-linger \S+ /],
  [{ place: 'session', linger: true, isKilled: true }, 'warning', /^when no work runs: systemd-run --user --scope /],
  [
    { place: 'session', linger: false, isKilled: true },
    'warning',
    /^loginctl enable-linger .*systemd-run --user --scope /,
  ],
] as const)('%j is %s', (facts, status, hint) => {
  const finding = evaluateLogout(facts)
  expect(finding.status).toBe(status)
  if (hint === undefined) expect(finding.hint).toBeUndefined()
  else expect(finding.hint).toMatch(hint)
})
