import { describe, expect, test } from 'vitest'
import { bestOf, compareWithReport, describeComparison } from './guard.ts'
import { addRun, ratiosOf, renderSeries, type Run } from './series.ts'

const REPORT: Run = {
  version: '1.0.0',
  commit: 'abc',
  date: '2026-11-18',
  isQuick: false,
  ratios: [
    { figure: 'status', beside: 'node -e 0', ratio: 1.5 },
    { figure: 'tasks', beside: '4 at a time', ratio: 3.6, isMoreBetter: true },
  ],
}

describe('the guard', () => {
  test('accepts a ratio that is up to 20 % worse, and refuses a worse one', () => {
    const judge = (ratio: number) =>
      compareWithReport([{ figure: 'status', beside: 'node -e 0', ratio }], REPORT)[0]?.isWorse
    expect(judge(1.79)).toBe(false)
    expect(judge(1.81)).toBe(true)
    expect(judge(0.5)).toBe(false)
  })

  test('refuses a lower ratio where more is better', () => {
    const judge = (ratio: number) =>
      compareWithReport([{ figure: 'tasks', beside: '4 at a time', ratio, isMoreBetter: true }], REPORT)[0]?.isWorse
    expect(judge(3.1)).toBe(false)
    expect(judge(2.9)).toBe(true)
  })

  test('names a figure that the report does not have as new', () => {
    const [row] = compareWithReport([{ figure: 'run', beside: 'node -e 0', ratio: 9 }], REPORT)
    expect(row?.isWorse).toBe(false)
    expect(row === undefined ? '' : describeComparison(row)).toBe('ok     run / node -e 0: 9.00× (new)')
  })

  test('keeps the best of two measurements', () => {
    const first = [
      { figure: 'a', beside: 'x', ratio: 2 },
      { figure: 'b', beside: 'x', ratio: 3, isMoreBetter: true },
      { figure: 'c', beside: 'x', ratio: 1 },
    ]
    const second = [
      { figure: 'a', beside: 'x', ratio: 1.5 },
      { figure: 'b', beside: 'x', ratio: 3.5, isMoreBetter: true },
    ]
    expect(bestOf(first, second).map(({ ratio }) => ratio)).toEqual([1.5, 3.5, 1])
  })
})

describe('the series', () => {
  test('has one run for each commit', () => {
    const again = { ...REPORT, date: '2026-11-19' }
    expect(addRun([REPORT], again)).toEqual([again])
    expect(addRun([REPORT], { ...REPORT, commit: 'def' })).toHaveLength(2)
  })

  test('is JSON with a line for each ratio', () => {
    const text = renderSeries([REPORT])
    expect(JSON.parse(text)).toEqual({ runs: [REPORT] })
    expect(text.split('\n').filter(line => line.startsWith('{"figure"'))).toHaveLength(2)
  })

  test('leaves out rows without a ratio', () => {
    const ours = { value: 10, unit: 'ms' } as const
    const rows = [
      { figure: 'alone', ours },
      { figure: 'missing', ours, beside: { name: 'pm2', theirs: { notMeasured: 'no pm2' } } },
      { figure: 'status', ours, beside: { name: 'node -e 0', theirs: { value: 4, unit: 'ms' } as const } },
    ]
    expect(ratiosOf(rows)).toEqual([{ figure: 'status', beside: 'node -e 0', ratio: 2.5 }])
  })
})
