/** A file of its own, because the command line lists these names in its options and must not load the managers. */
export const BOOT_MANAGERS = ['systemd', 'launchd', 'cron'] as const
export type BootManagerName = (typeof BOOT_MANAGERS)[number]
