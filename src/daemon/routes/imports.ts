import { publicPhase } from '../../core/session/session-state.ts'
import { refusal } from '../../api/contract/problems.ts'
import { parseImportRequest, type ImportRequest } from '../../api/contract/requests.ts'
import type { ResumePreview, SessionView } from '../../api/contract/responses.ts'
import { prepareImport } from './prepare-import.ts'
import { type RouteCall, type RouteContext, type Routes, route } from './route.ts'
import { startSession } from './start-session.ts'

export const IMPORT_ROUTES: Routes = {
  'POST /v1/sessions/adopt': route({
    parse: parseImportRequest,
    handle: importSession,
    full: 'any',
    confined: 'never',
  }),
}

/** Returns the preview, and continues the session unless the request is a dry run. */
async function importSession(
  context: RouteContext,
  { body: request, caller }: RouteCall<ImportRequest>,
): Promise<{ outlook: ResumePreview; session: SessionView | null }> {
  const prepared = await prepareImport(request, context)
  const holder = context.store.live().find(({ spec }) => spec.name === request.name)
  if (holder !== undefined)
    throw refusal(
      'name-taken',
      `a session called ${request.name} is already ${publicPhase(holder.phase)}`,
      `oneshot stop ${request.name}, then try again`,
    )
  const { preview } = prepared
  if (request.dryRun === true) return { outlook: preview, session: null }
  return {
    outlook: preview,
    session: await startSession(context, prepared.request, { caller, toImported: spec => prepared.toImported(spec) }),
  }
}
