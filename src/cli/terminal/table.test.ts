import { expect, test } from 'vitest'
import { type Column, renderTable } from './table.ts'

const columns: Column<readonly [string, string]>[] = [
  { header: 'NAME', text: row => row[0], color: text => `<${text}>` },
  { header: 'TITLE', text: row => row[1] },
]
const rows = [
  ['a', 'fix the login test'],
  ['修复', 'docs'],
] as const

test('renderTable aligns columns by their visible width, with two spaces between them', () => {
  expect(renderTable(columns, rows, { headers: true, width: Number.POSITIVE_INFINITY })).toEqual([
    'NAME  TITLE',
    '<a>     fix the login test',
    '<修复>  docs',
  ])
})

test('a narrow terminal cuts the last column', () => {
  expect(renderTable(columns, rows, { headers: true, width: 14 })).toEqual([
    'NAME  TITLE',
    '<a>     fix the…',
    '<修复>  docs',
  ])
})

test('a terminal too narrow for all columns still gets no line that is too long', () => {
  const lines = renderTable([columns[1], columns[1]] as typeof columns, rows, { headers: false, width: 10 })
  expect(lines).toEqual(['fix the l…', 'docs'])
})

test('without rows there is only the header, and without headers no line', () => {
  expect(renderTable(columns, [], { headers: true, width: 80 })).toEqual(['NAME  TITLE'])
  expect(renderTable(columns, [], { headers: false, width: 80 })).toEqual([])
})
