/** A line of a recording that the simulator answers otherwise, what differs, and why that is right. */
export interface KnownDifference {
  /** In its file, from 1. */
  readonly line: number
  readonly label: string
  /** A part of what differs: another difference on the same line is not known. */
  readonly differs: string
  readonly why: string
}

const NO_CLUSTER_STATUS = 'the sandbox of the real daemon had no corosync; a real host answers'
const STALE = 'the status daemon of the sandbox was slower than that of a real host: its last report was older'
const NOT_SEEN = 'the status daemon of the sandbox had not reported the new guest yet'
const NO_BYTES = 'simulated certificates have no bytes'

/** One entry for each line that differs. A line that is not here must be the same; a line that is here must differ. */
export const KNOWN_DIFFERENCES: Readonly<Record<string, readonly KnownDifference[]>> = {
  1: [{ line: 38, label: 'get', differs: 'cluster/status: status 500 != 200', why: NO_CLUSTER_STATUS }],
  4: [{ line: 62, label: 'get', differs: 'cluster/status: status 500 != 200', why: NO_CLUSTER_STATUS }],
  A: [{ line: 254, label: 'res-storage', differs: 'status: unknown != available', why: STALE }],
  B: [
    { line: 259, label: 'deny-none-certs', differs: 'pem missing', why: NO_BYTES },
    { line: 348, label: 'deny-aud-certs', differs: 'pem missing', why: NO_BYTES },
    {
      line: 368,
      label: 'ladder-create 3+Datastore.AllocateSpace@/storage/local',
      differs: 'VM.Config.Network) != Permission check failed (/vms/200, VM.Config.Options)',
      why: 'which of several missing privileges the daemon names is random',
    },
    {
      line: 396,
      label: 'lc-set-efidisk',
      differs: 'status 500 != 200',
      why: 'the firmware package was not in the sandbox; it is on every real host',
    },
    { line: 578, label: 'poolscope-resources', differs: 'status: running != stopped', why: STALE },
    { line: 583, label: 'poolscope-pool', differs: 'status: running != stopped', why: STALE },
    { line: 598, label: 'poolscope-pool2', differs: 'status: running != stopped', why: STALE },
    { line: 614, label: 'pool-type', differs: 'status: running != stopped', why: STALE },
  ],
  C: [
    { line: 355, label: 'macros', differs: 'descr', why: 'the names are the same; the descriptions are our own words' },
  ],
  E: [
    { line: 324, label: 'running-resources', differs: 'status: unknown != running', why: NOT_SEEN },
    { line: 491, label: 'pool-after-clone', differs: 'name: snap != snap2', why: STALE },
    {
      line: 634,
      label: 'vs-del0/status',
      differs: 'blockdev-snapshot-delete-internal-sync',
      why: 'the snapshot that failed half-way in the sandbox is not in the recording',
    },
    { line: 636, label: 'vs-list', differs: '2 items != 1', why: 'the same snapshot' },
  ],
  F: [
    { line: 11, label: 'resources', differs: 'status: unknown != stopped', why: NOT_SEEN },
    { line: 12, label: 'pool-get', differs: 'status: unknown != stopped', why: NOT_SEEN },
  ],
  G: [
    {
      line: 20,
      label: 'ping-early',
      differs: 'status 500 != 200',
      why: 'the recorder asked within the first second of the guest; here its agent answers by then',
    },
  ],
}
