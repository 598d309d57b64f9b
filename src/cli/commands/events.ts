import type { EventView, SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readEventViews } from '../../views/events.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'
import { INTERRUPTED, look } from '../look.ts'
import type { Line } from '../line/line.ts'
import { toJson, toJsonLine } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function events(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const session = pickSession(surroundings, line.words[0])
  const isJson = line.has(OPTIONS.json)
  if (line.has(OPTIONS.follow)) return await follow(session, surroundings, isJson)
  const story = last(inTime(readEventViews(home, session.id)), line.value(OPTIONS.lines) ?? 'all')
  if (isJson) screen.out.say(toJson(story))
  else for (const event of story) screen.out.say(told(event, screen.out))
  return 0
}

/** They are written down as they are learnt of, which may be later than others that came after them. */
function inTime(events: readonly EventView[]): readonly EventView[] {
  return events.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

function last<T>(items: readonly T[], count: number | 'all'): readonly T[] {
  return count === 'all' ? items : items.slice(Math.max(0, items.length - count))
}

/** One line for each event as it happens, until the session has ended. */
async function follow(session: SessionView, { home, screen }: Surroundings, isJson: boolean): Promise<number> {
  const { out } = screen
  const { ended } = await look({}, async signal => {
    for await (const event of asTheyHappen(home, session.id, signal))
      out.say(isJson ? toJsonLine(event) : told(event, out))
  })
  return ended === 'interrupted' ? INTERRUPTED : 0
}

async function* asTheyHappen(home: Home, id: string, signal: AbortSignal): AsyncGenerator<EventView> {
  let known = 0
  for await (const _ of watchSession(home, id, signal)) {
    const story = readEventViews(home, id)
    yield* story.slice(known)
    known = story.length
  }
}

function told(event: EventView, out: Outlet): string {
  return `${out.paint.dim(event.at)}  ${oneLine(event.text)}`
}
