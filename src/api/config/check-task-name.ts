import { isTaskName } from '../../core/task-name.ts'
import { slug } from '../../lib/slug.ts'
import { refusal } from '../contract/problems.ts'

/** Refuses a name that cannot be one, and offers the nearest that can. */
export function checkTaskName(name: string, before = '--name'): void {
  if (isTaskName(name)) return
  throw refusal(
    'name-invalid',
    `${JSON.stringify(name)} cannot be a name: lower-case letters, digits and hyphens only, at most 63, no hyphen at either end`,
    `try ${before} ${slug(name, 'my-task')}`,
  )
}
