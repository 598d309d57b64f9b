/** The result of a check. A note is worth knowing, a warning worth a change; only a failure prevents the work. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'note' | 'warning' | 'failure'
  readonly message: string
  readonly hint?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })

export const note = (check: string, message: string, hint?: string): Finding => ({
  check,
  status: 'note',
  message,
  ...(hint !== undefined && { hint }),
})

export const warning = (check: string, message: string, hint: string): Finding => ({
  check,
  status: 'warning',
  message,
  hint,
})

export const failure = (check: string, message: string, hint: string): Finding => ({
  check,
  status: 'failure',
  message,
  hint,
})
