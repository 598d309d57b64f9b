/** Events of Claude Code 2.1.197 and 2.1.325 that are of no use to a person, or that repeat another event. */
export const IGNORED_TYPES = new Set(
  [
    'stream_event tool_progress tool_use_summary keep_alive auth_status prompt_suggestion command_lifecycle',
    'conversation_reset control_request control_response control_cancel_request active_goal autocompact_state',
    'api_metrics transcript_mirror tombstone thinking_progress stream_mode response_length',
  ].flatMap(line => line.split(' ')),
)

export const IGNORED_SYSTEM_SUBTYPES = new Set(
  [
    'status thinking_tokens hook_started hook_progress hook_response stop_hook_summary task_progress task_summary',
    'session_state_changed session_title_changed session_metadata turn_starting turn_duration turn_preempted',
    'turn_began_before_init turn_handoff_available post_turn_summary away_summary local_command local_command_output',
    'commands_changed plugin_install files_persisted file_snapshot file_attachments_missing memory_saved memory_recall',
    'instruction_size_warning per_turn_effort_changed permission_check_status permission_retry elicitation_complete',
    'model_refusal_no_fallback control_request_progress vcs_state_changed code_change_published checkpoint_done',
    'scheduled_task_fire worker_shutting_down agents_killed api_error mirror_error bridge_state bridge_status',
    'start_folder placed dev_intent feedback_draft_queued inherited_asks_settled peer_message_hold rewind_stand_in',
    'tool_host_result',
  ].flatMap(line => line.split(' ')),
)
