import * as z from 'zod/mini'
import { refusal } from './problems.ts'

/** The type of a valid body. Nobody changes a body after its validation. */
export type Body<S extends z.ZodMiniType> = DeepReadonly<z.infer<S>>

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

export const nonEmpty = z.string().check(z.minLength(1))
export const umask = z.int().check(z.gte(0), z.lte(0o777))

/** Returns the valid body, or refuses it with a message that names each wrong field. */
export function validate<S extends z.ZodMiniType>(schema: S, body: unknown): Body<S> {
  const result = schema.safeParse(body)
  if (result.success) return result.data as Body<S>
  throw refusal('usage', `the request is not valid: ${result.error.issues.map(describeIssue).join('; ')}`)
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.join('.') || 'it'
  return issue.code === 'unrecognized_keys'
    ? `${field}: unknown ${issue.keys.join(', ')}`
    : `${field}: ${issue.message}`
}
