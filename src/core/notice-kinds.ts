/** The kinds of notices, in the order they are documented. */
export const NOTICE_KINDS = ['done', 'failed', 'gave-up', 'stopped', 'blocked', 'limit', 'restarting'] as const

export type NoticeKind = (typeof NOTICE_KINDS)[number]
