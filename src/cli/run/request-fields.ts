import type { Config } from '../../api/config/load-config.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { CONFIG_FIELDS, type FieldSource, RUN_OPTION_LIST } from '../args/run-options.ts'

type RequestFields = Pick<RunRequest, 'autonomy' | 'model' | 'effort' | 'thread' | 'supervision'>

/** Returns the fields of the request that the table of the run options names: each from the line, else from its key. */
export function readRequestFields(args: ParsedArgs, config: Config): RequestFields {
  const request = {}
  for (const option of RUN_OPTION_LIST) {
    const { field } = option
    if (field !== undefined) setField(request, { ...option, field }, args.value(option), config)
  }
  for (const source of CONFIG_FIELDS) setField(request, source, undefined, config)
  return request as RequestFields
}

function setField(request: object, { field, key, absent }: FieldSource, given: unknown, config: Config): void {
  const value = given === undefined && key !== undefined ? config[key].value : given
  if (value === undefined || value === absent) return
  const path = field.split('.')
  const name = path.pop() ?? field
  let group = request as Record<string, unknown>
  for (const part of path) group = (group[part] ??= {}) as Record<string, unknown>
  group[name] = value
}
