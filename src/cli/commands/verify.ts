import type { ProofView } from '../../api/contract/proof-view.ts'
import type { CheckpointView, SessionView } from '../../api/contract/session-view.ts'
import { isRefusal } from '../../lib/refusal.ts'
import { lastWordsOf } from '../../views/last-words.ts'
import { askedCheck } from '../../views/asked-check.ts'
import { apartOf } from '../../views/loop-work.ts'
import { proofOf } from '../../views/proof.ts'
import { readSession } from '../../views/sessions.ts'
import { tellingCheckpoints, workOf } from '../../views/work-of.ts'
import type { Home } from '../../world/os/home.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { whenSaved } from '../session/when-saved.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { describeProof } from '../verify/describe-proof.ts'
import { chooseCheck, tryCheck } from '../verify/try-check.ts'

const EXITS: { readonly [V in ProofView['verdict']]: number } = { proven: 0, refuted: 1, 'not-proven': 3 }

export async function verify(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, env } = surroundings
  const session = pickSession(surroundings, line.words[0])
  const choice = chooseCheck(line, session.cwd, env, askedCheck(surroundings.home, session.id))
  const limit = line.value(OPTIONS.checkLimit)
  const glance = await look({}, async signal => {
    const found = await gather(surroundings.home, session)
    // Where nothing has landed, what lies here says nothing about it.
    const where = found.isApart && !line.has(OPTIONS.checkLine) ? 'off' : choice
    const trial = await tryCheck(where, session, surroundings, { limit, signal })
    return proofOf(found.session, found.shown, found.words, trial)
  })
  if (glance.ended !== 'by-itself') return INTERRUPTED
  const proof = glance.value
  if (line.has(OPTIONS.json)) screen.out.say(toJson(proof))
  else if (screen.isQuiet) screen.out.say(proof.verdict)
  else for (const text of describeProof(proof, screen.out.paint)) screen.out.say(text)
  return EXITS[proof.verdict]
}

/** Before anything is run, which may change files itself. */
async function gather(home: Home, picked: SessionView) {
  if (!isLive(picked) && picked.isSaving) await whenSaved(home, picked)
  const session = readSession(home, picked.id) ?? picked
  const words = await lastWordsOf(home, session)
  const apart = apartOf(home, session)
  if (apart !== null) return { session, shown: apart, words, isApart: apart.isApart }
  const checkpoints = await tellingCheckpoints(home, session)
  const now = isLive(session) && checkpoints.length > 0 ? await savedNow(home, session) : null
  const shown = await workOf(home, session, checkpoints, now)
  return { session, shown, words, isApart: false }
}

/** Null when it cannot be saved just now: then its newest checkpoint must do. */
async function savedNow(home: Home, { id }: SessionView): Promise<CheckpointView | null> {
  try {
    return (await (await ensureDaemon(home)).checkpoint(id)).checkpoint
  } catch (cause) {
    if (isRefusal(cause)) return null
    throw cause
  }
}
