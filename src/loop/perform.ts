import type { Deed } from '../core/loop/deeds.ts'
import { audit } from './deeds/audit.ts'
import { begin, seePlan } from './deeds/begin.ts'
import { clear } from './deeds/clear.ts'
import { firstCheck } from './deeds/first-check.ts'
import { judge } from './deeds/judge.ts'
import { land } from './deeds/land.ts'
import { mark } from './deeds/mark.ts'
import { merge } from './deeds/merge.ts'
import { prepare } from './deeds/prepare.ts'
import { tend } from './deeds/tend.ts'
import type { Desk } from './gear.ts'

/** Does what was decided. Begun again from its beginning, each finds what is done already. */
export function perform(deed: Deed, desk: Desk): Promise<void> {
  switch (deed.type) {
    case 'begin':
      return begin(desk)
    case 'first-check':
      return firstCheck(desk)
    case 'see-plan':
      return seePlan(desk)
    case 'prepare':
      return prepare(deed, desk)
    case 'tend':
      return tend(deed, desk)
    case 'judge':
      return judge(deed, desk)
    case 'merge':
      return merge(deed, desk)
    case 'mark':
      return mark(deed.marks, desk)
    case 'clear':
      return clear(deed.task, desk)
    case 'land':
      return land(desk)
    case 'audit':
      return audit(desk)
  }
}
