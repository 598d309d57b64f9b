/** The build writes the version into the bundle. */
declare const ONESHOT_VERSION: string

export const VERSION = typeof ONESHOT_VERSION === 'string' ? ONESHOT_VERSION : '0.0.0-dev'
