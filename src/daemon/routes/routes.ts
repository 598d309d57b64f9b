import { CHECKPOINT_ROUTES } from './checkpoints.ts'
import { DAEMON_ROUTES } from './daemon.ts'
import { IMPORT_ROUTES } from './imports.ts'
import { MESSAGE_ROUTES } from './messages.ts'
import { NOTIFICATION_ROUTES } from './notifications.ts'
import { RESUME_ROUTES } from './resume.ts'
import type { Routes } from './route.ts'
import { SAVED_SESSION_ROUTES } from './restore-from-repository.ts'
import { SESSION_ROUTES } from './sessions.ts'
import { TASK_ROUTES } from './tasks.ts'

/** The whole HTTP contract. */
export const ROUTES: Routes = {
  ...DAEMON_ROUTES,
  ...SESSION_ROUTES,
  ...RESUME_ROUTES,
  ...IMPORT_ROUTES,
  ...MESSAGE_ROUTES,
  ...TASK_ROUTES,
  ...CHECKPOINT_ROUTES,
  ...SAVED_SESSION_ROUTES,
  ...NOTIFICATION_ROUTES,
}
