import { InvalidData, type Parser } from '../../lib/codec.ts'

declare const brand: unique symbol

/**
 * The full name of a git object, in SHA-1 or SHA-256. Only the functions of this file make one, so a ref or a branch
 * cannot take its place. git never takes it for an option or a path.
 */
export type ObjectId = string & { readonly [brand]: 'object id' }

export function isObjectId(text: string): text is ObjectId {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

export const objectId: Parser<ObjectId> = value => {
  if (typeof value !== 'string' || !isObjectId(value)) throw new InvalidData('it is not the id of a git object')
  return value
}
