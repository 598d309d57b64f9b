import { type TestContext, test } from 'vitest'

/**
 * Defines a test for each case. `npm test` runs the first `short` cases; the others have the tag `extended`, and
 * `npm run test:all` runs them, too.
 */
export function forCases<T>(
  cases: readonly T[],
  short: number,
  title: string,
  body: (item: T, context: TestContext) => unknown,
): void {
  test.for(cases.slice(0, short))(title, (item, context) => body(item, context) as Promise<void>)
  test.for(cases.slice(short))(title, { tags: ['extended'] }, (item, context) => body(item, context) as Promise<void>)
}
