CREATE TABLE attempts (
	digest VARCHAR(64) NOT NULL,
	failures INTEGER NOT NULL,
	last_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_attempts PRIMARY KEY (digest)
);

CREATE TABLE audit (
	id SERIAL NOT NULL,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	person_id VARCHAR(32),
	action VARCHAR(64) NOT NULL,
	object VARCHAR(200) NOT NULL,
	detail JSONB NOT NULL,
	CONSTRAINT pk_audit PRIMARY KEY (id)
);

CREATE INDEX ix_audit_person_id ON audit (person_id);

CREATE TABLE erasures (
	draft_id VARCHAR(32) NOT NULL,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_erasures PRIMARY KEY (draft_id)
);

CREATE TABLE jobs (
	id VARCHAR(32) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	key VARCHAR(64) NOT NULL,
	machine_id VARCHAR(32),
	payload JSONB NOT NULL,
	state VARCHAR(32) NOT NULL,
	priority INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	most_attempts INTEGER NOT NULL,
	worker VARCHAR(100),
	problem TEXT NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	leased_until TIMESTAMP WITH TIME ZONE,
	ended_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_jobs PRIMARY KEY (id),
	CONSTRAINT uq_jobs_kind_key UNIQUE (kind, key),
	CONSTRAINT ck_jobs_state CHECK (state IN ('waiting', 'leased', 'done', 'failed', 'cancelled'))
);

CREATE INDEX ix_jobs_next ON jobs (state, due_at);

CREATE TABLE machines (
	id VARCHAR(32) NOT NULL,
	name VARCHAR(100) NOT NULL,
	spec TEXT NOT NULL,
	kind VARCHAR(32) NOT NULL,
	status VARCHAR(32) NOT NULL,
	quota INTEGER NOT NULL,
	decoding JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_machines PRIMARY KEY (id),
	CONSTRAINT ck_machines_status CHECK (status IN ('active', 'draining', 'inactive')),
	CONSTRAINT ck_machines_quota CHECK (quota >= -1),
	CONSTRAINT uq_machines_name UNIQUE (name)
);

CREATE TABLE people (
	id VARCHAR(32) NOT NULL,
	name VARCHAR(100),
	email VARCHAR(254),
	display VARCHAR(200) NOT NULL,
	password VARCHAR(200),
	issuer VARCHAR(500),
	subject VARCHAR(255),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE,
	deleted_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_people PRIMARY KEY (id),
	CONSTRAINT uq_people_issuer_subject UNIQUE (issuer, subject),
	CONSTRAINT uq_people_name UNIQUE (name),
	CONSTRAINT uq_people_email UNIQUE (email)
);

CREATE TABLE settings (
	name VARCHAR(64) NOT NULL,
	value JSONB NOT NULL,
	CONSTRAINT pk_settings PRIMARY KEY (name)
);

CREATE TABLE stories (
	id VARCHAR(32) NOT NULL,
	pid VARCHAR(200),
	exported_at VARCHAR(64),
	story JSONB NOT NULL,
	status VARCHAR(32) NOT NULL,
	is_excluded BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_stories PRIMARY KEY (id),
	CONSTRAINT ck_stories_status CHECK (status IN ('pending', 'ready', 'failed'))
);

CREATE INDEX ix_stories_pid ON stories (pid);

CREATE TABLE assignments (
	id VARCHAR(32) NOT NULL,
	story VARCHAR(32) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	machine_id VARCHAR(32) NOT NULL,
	reason VARCHAR(32) NOT NULL,
	seed BIGINT NOT NULL,
	turn INTEGER NOT NULL,
	states JSONB NOT NULL,
	assigned_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_assignments PRIMARY KEY (id),
	CONSTRAINT uq_assignments_story_kind_number UNIQUE (story, kind, number),
	CONSTRAINT uq_assignments_kind_turn UNIQUE (kind, turn),
	CONSTRAINT ck_assignments_reason CHECK (reason IN ('first', 'inactive', 'quota', 'chosen')),
	CONSTRAINT fk_assignments_machine_id FOREIGN KEY(machine_id) REFERENCES machines (id) ON DELETE RESTRICT
);

CREATE INDEX ix_assignments_machine_id ON assignments (machine_id);

CREATE TABLE campaigns (
	id VARCHAR(32) NOT NULL,
	name VARCHAR(100) NOT NULL,
	owner_id VARCHAR(32) NOT NULL,
	definition JSONB NOT NULL,
	digest VARCHAR(64) NOT NULL,
	state VARCHAR(32) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	opened_at TIMESTAMP WITH TIME ZONE,
	closed_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_campaigns PRIMARY KEY (id),
	CONSTRAINT ck_campaigns_state CHECK (state IN ('draft', 'open', 'paused', 'closed')),
	CONSTRAINT uq_campaigns_name UNIQUE (name),
	CONSTRAINT fk_campaigns_owner_id FOREIGN KEY(owner_id) REFERENCES people (id) ON DELETE RESTRICT
);

CREATE INDEX ix_campaigns_owner_id ON campaigns (owner_id);

CREATE TABLE games (
	id VARCHAR(32) NOT NULL,
	pid VARCHAR(200) NOT NULL,
	owner_id VARCHAR(32) NOT NULL,
	key VARCHAR(64),
	title VARCHAR(300) NOT NULL,
	description TEXT NOT NULL,
	world VARCHAR(200) NOT NULL,
	is_excluded BOOLEAN NOT NULL,
	extra JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completed_at TIMESTAMP WITH TIME ZONE,
	archived_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_games PRIMARY KEY (id),
	CONSTRAINT uq_games_owner_id_key UNIQUE (owner_id, key),
	CONSTRAINT uq_games_owner_id_pid UNIQUE (owner_id, pid),
	CONSTRAINT fk_games_owner_id FOREIGN KEY(owner_id) REFERENCES people (id) ON DELETE RESTRICT
);

CREATE INDEX ix_games_owner_id ON games (owner_id);

CREATE TABLE links (
	digest VARCHAR(64) NOT NULL,
	person_id VARCHAR(32),
	purpose VARCHAR(32) NOT NULL,
	roles JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
	used_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_links PRIMARY KEY (digest),
	CONSTRAINT ck_links_purpose CHECK (purpose IN ('first', 'invite', 'password')),
	CONSTRAINT fk_links_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);

CREATE INDEX ix_links_person_id ON links (person_id);

CREATE TABLE roles (
	person_id VARCHAR(32) NOT NULL,
	role VARCHAR(32) NOT NULL,
	CONSTRAINT pk_roles PRIMARY KEY (person_id, role),
	CONSTRAINT ck_roles_role CHECK (role IN ('author', 'annotator', 'researcher', 'admin')),
	CONSTRAINT fk_roles_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);

CREATE INDEX ix_roles_person_id ON roles (person_id);

CREATE TABLE sessions (
	digest VARCHAR(64) NOT NULL,
	person_id VARCHAR(32) NOT NULL,
	csrf VARCHAR(64) NOT NULL,
	scopes JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	network VARCHAR(64) NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (digest),
	CONSTRAINT fk_sessions_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);

CREATE INDEX ix_sessions_person_id ON sessions (person_id);

CREATE TABLE tokens (
	id VARCHAR(32) NOT NULL,
	person_id VARCHAR(32) NOT NULL,
	name VARCHAR(100) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	scopes JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	used_at TIMESTAMP WITH TIME ZONE,
	expires_at TIMESTAMP WITH TIME ZONE,
	revoked_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_tokens PRIMARY KEY (id),
	CONSTRAINT fk_tokens_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE,
	CONSTRAINT uq_tokens_digest UNIQUE (digest)
);

CREATE INDEX ix_tokens_person_id ON tokens (person_id);

CREATE TABLE campaign_doors (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	way VARCHAR(32) NOT NULL,
	code VARCHAR(64) NOT NULL,
	completion VARCHAR(200) NOT NULL,
	most INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	closed_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_campaign_doors PRIMARY KEY (id),
	CONSTRAINT ck_campaign_doors_way CHECK (way IN ('code', 'prolific', 'mturk', 'account')),
	CONSTRAINT fk_campaign_doors_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
	CONSTRAINT uq_campaign_doors_code UNIQUE (code)
);

CREATE INDEX ix_campaign_doors_campaign_id ON campaign_doors (campaign_id);

CREATE TABLE campaign_pictures (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	media_type VARCHAR(64) NOT NULL,
	width INTEGER NOT NULL,
	height INTEGER NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT pk_campaign_pictures PRIMARY KEY (id),
	CONSTRAINT uq_campaign_pictures_campaign_id_digest UNIQUE (campaign_id, digest),
	CONSTRAINT fk_campaign_pictures_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_pictures_campaign_id ON campaign_pictures (campaign_id);

CREATE TABLE campaign_stories (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	name VARCHAR(500) NOT NULL,
	text TEXT NOT NULL,
	prompt TEXT,
	reference_texts JSONB NOT NULL,
	pictures JSONB NOT NULL,
	system VARCHAR(500),
	item VARCHAR(500),
	extra JSONB NOT NULL,
	is_planted BOOLEAN NOT NULL,
	CONSTRAINT pk_campaign_stories PRIMARY KEY (id),
	CONSTRAINT uq_campaign_stories_campaign_id_name UNIQUE (campaign_id, name),
	CONSTRAINT fk_campaign_stories_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_stories_campaign_id ON campaign_stories (campaign_id);

CREATE TABLE campaign_tasks (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	kind VARCHAR(32) NOT NULL,
	stories JSONB NOT NULL,
	item VARCHAR(500),
	systems JSONB NOT NULL,
	wanted INTEGER NOT NULL,
	original_id VARCHAR(32),
	CONSTRAINT pk_campaign_tasks PRIMARY KEY (id),
	CONSTRAINT uq_campaign_tasks_campaign_id_number UNIQUE (campaign_id, number),
	CONSTRAINT ck_campaign_tasks_kind CHECK (kind IN ('story', 'planted', 'duplicate')),
	CONSTRAINT fk_campaign_tasks_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_tasks_original_id FOREIGN KEY(original_id) REFERENCES campaign_tasks (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_tasks_campaign_id ON campaign_tasks (campaign_id);

CREATE INDEX ix_campaign_tasks_original_id ON campaign_tasks (original_id);

CREATE TABLE characters (
	id VARCHAR(32) NOT NULL,
	game_id VARCHAR(32) NOT NULL,
	key VARCHAR(64),
	seq_id INTEGER NOT NULL,
	name VARCHAR(300) NOT NULL,
	description TEXT NOT NULL,
	player_id VARCHAR(32),
	extra JSONB NOT NULL,
	CONSTRAINT pk_characters PRIMARY KEY (id),
	CONSTRAINT uq_characters_game_id_seq_id UNIQUE (game_id, seq_id),
	CONSTRAINT uq_characters_game_id_key UNIQUE (game_id, key),
	CONSTRAINT fk_characters_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_characters_player_id FOREIGN KEY(player_id) REFERENCES people (id) ON DELETE SET NULL
);

CREATE INDEX ix_characters_game_id ON characters (game_id);

CREATE INDEX ix_characters_player_id ON characters (player_id);

CREATE TABLE members (
	game_id VARCHAR(32) NOT NULL,
	person_id VARCHAR(32) NOT NULL,
	part VARCHAR(32) NOT NULL,
	CONSTRAINT pk_members PRIMARY KEY (game_id, person_id),
	CONSTRAINT ck_members_part CHECK (part IN ('narrator', 'player', 'reader')),
	CONSTRAINT fk_members_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_members_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);

CREATE INDEX ix_members_game_id ON members (game_id);

CREATE INDEX ix_members_person_id ON members (person_id);

CREATE TABLE scenes (
	id VARCHAR(32) NOT NULL,
	game_id VARCHAR(32) NOT NULL,
	key VARCHAR(64),
	number INTEGER NOT NULL,
	title VARCHAR(300) NOT NULL,
	is_complete BOOLEAN NOT NULL,
	extra JSONB NOT NULL,
	CONSTRAINT pk_scenes PRIMARY KEY (id),
	CONSTRAINT uq_scenes_game_id_number UNIQUE (game_id, number),
	CONSTRAINT uq_scenes_game_id_key UNIQUE (game_id, key),
	CONSTRAINT fk_scenes_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE
);

CREATE INDEX ix_scenes_game_id ON scenes (game_id);

CREATE TABLE campaign_raters (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	door_id VARCHAR(32) NOT NULL,
	person_id VARCHAR(32),
	external_id VARCHAR(200),
	external JSONB NOT NULL,
	digest VARCHAR(64) NOT NULL,
	secret_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completion VARCHAR(200) NOT NULL,
	training JSONB NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	consented_at TIMESTAMP WITH TIME ZONE,
	trained_at TIMESTAMP WITH TIME ZONE,
	finished_at TIMESTAMP WITH TIME ZONE,
	excluded_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_campaign_raters PRIMARY KEY (id),
	CONSTRAINT uq_campaign_raters_campaign_id_number UNIQUE (campaign_id, number),
	CONSTRAINT uq_campaign_raters_campaign_id_external_id UNIQUE (campaign_id, external_id),
	CONSTRAINT uq_campaign_raters_campaign_id_person_id UNIQUE (campaign_id, person_id),
	CONSTRAINT fk_campaign_raters_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_raters_door_id FOREIGN KEY(door_id) REFERENCES campaign_doors (id) ON DELETE RESTRICT,
	CONSTRAINT fk_campaign_raters_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL,
	CONSTRAINT uq_campaign_raters_digest UNIQUE (digest)
);

CREATE INDEX ix_campaign_raters_campaign_id ON campaign_raters (campaign_id);

CREATE INDEX ix_campaign_raters_door_id ON campaign_raters (door_id);

CREATE INDEX ix_campaign_raters_person_id ON campaign_raters (person_id);

CREATE TABLE campaign_scores (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	story_id VARCHAR(32) NOT NULL,
	scorer VARCHAR(500) NOT NULL,
	aspect VARCHAR(200) NOT NULL,
	value FLOAT,
	status VARCHAR(32) NOT NULL,
	note TEXT NOT NULL,
	CONSTRAINT pk_campaign_scores PRIMARY KEY (id),
	CONSTRAINT uq_campaign_scores_story_id_scorer_aspect UNIQUE (story_id, scorer, aspect),
	CONSTRAINT fk_campaign_scores_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_scores_story_id FOREIGN KEY(story_id) REFERENCES campaign_stories (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_scores_campaign_id ON campaign_scores (campaign_id);

CREATE INDEX ix_campaign_scores_story_id ON campaign_scores (story_id);

CREATE TABLE cards (
	id VARCHAR(32) NOT NULL,
	game_id VARCHAR(32) NOT NULL,
	card_id VARCHAR(200) NOT NULL,
	number INTEGER NOT NULL,
	namespace VARCHAR(32) NOT NULL,
	name VARCHAR(300) NOT NULL,
	description TEXT NOT NULL,
	polarity INTEGER NOT NULL,
	is_wild BOOLEAN NOT NULL,
	is_deleted BOOLEAN NOT NULL,
	stack_size INTEGER,
	success_stakes TEXT,
	failure_stakes TEXT,
	challenge_points INTEGER,
	character_id VARCHAR(32),
	extra JSONB NOT NULL,
	CONSTRAINT pk_cards PRIMARY KEY (id),
	CONSTRAINT uq_cards_game_id_card_id UNIQUE (game_id, card_id),
	CONSTRAINT ck_cards_namespace CHECK (namespace IN ('chartype', 'goal', 'person', 'place', 'thing', 'strength', 'weakness', 'obstacle', 'subplot')),
	CONSTRAINT ck_cards_polarity CHECK (polarity IN (-1, 0, 1)),
	CONSTRAINT fk_cards_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_cards_character_id FOREIGN KEY(character_id) REFERENCES characters (id) ON DELETE SET NULL
);

CREATE INDEX ix_cards_character_id ON cards (character_id);

CREATE INDEX ix_cards_game_id ON cards (game_id);

CREATE TABLE drafts (
	id VARCHAR(32) NOT NULL,
	game_id VARCHAR(32) NOT NULL,
	scene_id VARCHAR(32) NOT NULL,
	author_id VARCHAR(32) NOT NULL,
	character_id VARCHAR(32),
	key VARCHAR(64) NOT NULL,
	format VARCHAR(32) NOT NULL,
	cards JSONB NOT NULL,
	text TEXT NOT NULL,
	marks JSONB NOT NULL,
	version INTEGER NOT NULL,
	state VARCHAR(32) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	saved_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_drafts PRIMARY KEY (id),
	CONSTRAINT uq_drafts_author_id_key UNIQUE (author_id, key),
	CONSTRAINT ck_drafts_state CHECK (state IN ('open', 'published', 'discarded')),
	CONSTRAINT fk_drafts_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_drafts_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (id) ON DELETE CASCADE,
	CONSTRAINT fk_drafts_author_id FOREIGN KEY(author_id) REFERENCES people (id) ON DELETE RESTRICT,
	CONSTRAINT fk_drafts_character_id FOREIGN KEY(character_id) REFERENCES characters (id) ON DELETE SET NULL
);

CREATE INDEX ix_drafts_author_id ON drafts (author_id);

CREATE INDEX ix_drafts_character_id ON drafts (character_id);

CREATE INDEX ix_drafts_game_id ON drafts (game_id);

CREATE INDEX ix_drafts_scene_id ON drafts (scene_id);

CREATE TABLE entries (
	id VARCHAR(32) NOT NULL,
	game_id VARCHAR(32) NOT NULL,
	scene_id VARCHAR(32) NOT NULL,
	seq_id INTEGER NOT NULL,
	format VARCHAR(32) NOT NULL,
	author_id VARCHAR(32),
	character_id VARCHAR(32),
	text TEXT NOT NULL,
	polarity INTEGER,
	draft_id VARCHAR(32),
	extra JSONB NOT NULL,
	published_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_entries PRIMARY KEY (id),
	CONSTRAINT uq_entries_game_id_seq_id UNIQUE (game_id, seq_id),
	CONSTRAINT ck_entries_format CHECK (format IN ('establishment', 'addition', 'conclusion', 'move', 'refresh', 'subplot')),
	CONSTRAINT fk_entries_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_entries_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (id) ON DELETE CASCADE,
	CONSTRAINT fk_entries_author_id FOREIGN KEY(author_id) REFERENCES people (id) ON DELETE SET NULL,
	CONSTRAINT fk_entries_character_id FOREIGN KEY(character_id) REFERENCES characters (id) ON DELETE SET NULL,
	CONSTRAINT uq_entries_draft_id UNIQUE (draft_id)
);

CREATE INDEX ix_entries_author_id ON entries (author_id);

CREATE INDEX ix_entries_character_id ON entries (character_id);

CREATE INDEX ix_entries_game_id ON entries (game_id);

CREATE INDEX ix_entries_scene_id ON entries (scene_id);

CREATE INDEX ix_entries_scene_seq ON entries (scene_id, seq_id);

CREATE TABLE campaign_assignments (
	id VARCHAR(32) NOT NULL,
	campaign_id VARCHAR(32) NOT NULL,
	task_id VARCHAR(32) NOT NULL,
	rater_id VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	shown JSONB NOT NULL,
	state VARCHAR(32) NOT NULL,
	answers JSONB NOT NULL,
	version INTEGER NOT NULL,
	visible_s FLOAT NOT NULL,
	leased_until TIMESTAMP WITH TIME ZONE NOT NULL,
	opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
	saved_at TIMESTAMP WITH TIME ZONE,
	submitted_at TIMESTAMP WITH TIME ZONE,
	rejected_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_campaign_assignments PRIMARY KEY (id),
	CONSTRAINT uq_campaign_assignments_rater_id_task_id UNIQUE (rater_id, task_id),
	CONSTRAINT uq_campaign_assignments_rater_id_number UNIQUE (rater_id, number),
	CONSTRAINT ck_campaign_assignments_state CHECK (state IN ('leased', 'submitted', 'surplus', 'released')),
	CONSTRAINT fk_campaign_assignments_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_assignments_task_id FOREIGN KEY(task_id) REFERENCES campaign_tasks (id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_assignments_rater_id FOREIGN KEY(rater_id) REFERENCES campaign_raters (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_assignments_campaign_id ON campaign_assignments (campaign_id);

CREATE INDEX ix_campaign_assignments_rater_id ON campaign_assignments (rater_id);

CREATE INDEX ix_campaign_assignments_task_id ON campaign_assignments (task_id);

CREATE INDEX ix_campaign_assignments_task_id_state ON campaign_assignments (task_id, state);

CREATE TABLE edits (
	id BIGSERIAL NOT NULL,
	draft_id VARCHAR(32) NOT NULL,
	version INTEGER NOT NULL,
	position INTEGER NOT NULL,
	person_id VARCHAR(32) NOT NULL,
	start INTEGER NOT NULL,
	stop INTEGER NOT NULL,
	removed TEXT NOT NULL,
	inserted TEXT NOT NULL,
	source VARCHAR(32) NOT NULL,
	suggestion_id VARCHAR(32),
	made_at TIMESTAMP WITH TIME ZONE NOT NULL,
	saved_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_edits PRIMARY KEY (id),
	CONSTRAINT uq_edits_draft_id_version_position UNIQUE (draft_id, version, position),
	CONSTRAINT ck_edits_source CHECK (source IN ('person', 'machine')),
	CONSTRAINT fk_edits_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id) ON DELETE CASCADE,
	CONSTRAINT fk_edits_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE RESTRICT
);

CREATE INDEX ix_edits_draft_id ON edits (draft_id);

CREATE INDEX ix_edits_person_id ON edits (person_id);

CREATE TABLE entry_cards (
	entry_id VARCHAR(32) NOT NULL,
	use VARCHAR(32) NOT NULL,
	position INTEGER NOT NULL,
	card_id VARCHAR(200) NOT NULL,
	snapshot JSONB NOT NULL,
	CONSTRAINT pk_entry_cards PRIMARY KEY (entry_id, use, position),
	CONSTRAINT ck_entry_cards_use CHECK (use IN ('challenge', 'target', 'played', 'place', 'pickup')),
	CONSTRAINT fk_entry_cards_entry_id FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX ix_entry_cards_entry_id ON entry_cards (entry_id);

CREATE TABLE suggestions (
	id VARCHAR(32) NOT NULL,
	key VARCHAR(64) NOT NULL,
	person_id VARCHAR(32),
	game_id VARCHAR(32),
	draft_id VARCHAR(32),
	story_id VARCHAR(32),
	entry_id VARCHAR(32),
	machine_id VARCHAR(32),
	kind VARCHAR(32) NOT NULL,
	context JSONB NOT NULL,
	position INTEGER,
	seen JSONB,
	generated TEXT NOT NULL,
	published TEXT,
	finalized JSONB,
	status VARCHAR(32) NOT NULL,
	problem TEXT NOT NULL,
	wanted VARCHAR(64) NOT NULL,
	decoding JSONB NOT NULL,
	seed BIGINT NOT NULL,
	signature TEXT NOT NULL,
	tokens INTEGER,
	asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE,
	first_token_at TIMESTAMP WITH TIME ZONE,
	ended_at TIMESTAMP WITH TIME ZONE,
	published_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_suggestions PRIMARY KEY (id),
	CONSTRAINT uq_suggestions_person_id_key UNIQUE (person_id, key),
	CONSTRAINT uq_suggestions_story_id_kind_key UNIQUE (story_id, kind, key),
	CONSTRAINT ck_suggestions_status CHECK (status IN ('pending', 'executing', 'done', 'failed', 'cancelled')),
	CONSTRAINT fk_suggestions_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL,
	CONSTRAINT fk_suggestions_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
	CONSTRAINT fk_suggestions_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id) ON DELETE SET NULL,
	CONSTRAINT fk_suggestions_story_id FOREIGN KEY(story_id) REFERENCES stories (id) ON DELETE CASCADE,
	CONSTRAINT fk_suggestions_entry_id FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE SET NULL,
	CONSTRAINT fk_suggestions_machine_id FOREIGN KEY(machine_id) REFERENCES machines (id) ON DELETE RESTRICT
);

CREATE INDEX ix_suggestions_draft_id ON suggestions (draft_id);

CREATE INDEX ix_suggestions_entry_id ON suggestions (entry_id);

CREATE INDEX ix_suggestions_game_id ON suggestions (game_id);

CREATE INDEX ix_suggestions_machine_asked ON suggestions (machine_id, asked_at);

CREATE INDEX ix_suggestions_machine_id ON suggestions (machine_id);

CREATE INDEX ix_suggestions_person_id ON suggestions (person_id);

CREATE INDEX ix_suggestions_published ON suggestions (published_at);

CREATE INDEX ix_suggestions_story_id ON suggestions (story_id);

CREATE TABLE versions (
	draft_id VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	key VARCHAR(64) NOT NULL,
	name VARCHAR(200),
	text TEXT,
	marks JSONB,
	saved_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_versions PRIMARY KEY (draft_id, number),
	CONSTRAINT uq_versions_draft_id_key UNIQUE (draft_id, key),
	CONSTRAINT fk_versions_draft_id FOREIGN KEY(draft_id) REFERENCES drafts (id) ON DELETE CASCADE
);

CREATE INDEX ix_versions_draft_id ON versions (draft_id);

CREATE TABLE campaign_verdicts (
	id SERIAL NOT NULL,
	assignment_id VARCHAR(32) NOT NULL,
	person_id VARCHAR(32) NOT NULL,
	verdict VARCHAR(32) NOT NULL,
	reason TEXT NOT NULL,
	at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_campaign_verdicts PRIMARY KEY (id),
	CONSTRAINT ck_campaign_verdicts_verdict CHECK (verdict IN ('rejected', 'restored')),
	CONSTRAINT fk_campaign_verdicts_assignment_id FOREIGN KEY(assignment_id) REFERENCES campaign_assignments (id) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_verdicts_assignment_id ON campaign_verdicts (assignment_id);

CREATE TABLE ratings (
	id VARCHAR(32) NOT NULL,
	suggestion_id VARCHAR(32) NOT NULL,
	rater VARCHAR(64) NOT NULL,
	aspect VARCHAR(32) NOT NULL,
	value INTEGER,
	comment TEXT NOT NULL,
	rated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_ratings PRIMARY KEY (id),
	CONSTRAINT uq_ratings_suggestion_id_rater_aspect UNIQUE (suggestion_id, rater, aspect),
	CONSTRAINT ck_ratings_value CHECK (value IS NULL OR value BETWEEN 1 AND 5),
	CONSTRAINT fk_ratings_suggestion_id FOREIGN KEY(suggestion_id) REFERENCES suggestions (id) ON DELETE CASCADE
);

CREATE INDEX ix_ratings_rated ON ratings (rated_at);

CREATE INDEX ix_ratings_rater ON ratings (rater);

CREATE INDEX ix_ratings_suggestion_id ON ratings (suggestion_id);

CREATE TABLE scores (
	id BIGSERIAL NOT NULL,
	suggestion_id VARCHAR(32) NOT NULL,
	scorer VARCHAR(200) NOT NULL,
	aspect VARCHAR(64) NOT NULL,
	value FLOAT,
	status VARCHAR(32) NOT NULL,
	coverage FLOAT NOT NULL,
	note TEXT NOT NULL,
	signature TEXT NOT NULL,
	CONSTRAINT pk_scores PRIMARY KEY (id),
	CONSTRAINT uq_scores_suggestion_id_scorer_aspect UNIQUE (suggestion_id, scorer, aspect),
	CONSTRAINT fk_scores_suggestion_id FOREIGN KEY(suggestion_id) REFERENCES suggestions (id) ON DELETE CASCADE
);

CREATE INDEX ix_scores_suggestion_id ON scores (suggestion_id);

