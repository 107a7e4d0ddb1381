#include "driver/pipeline.h"

#include "driver/driver.h"
#include "source/load.h"

static const Span nowhere = {0, 0};

int pipeline_run(Session *session) {
    const Options *options = &session->options;
    bool unread = false;

    /* Source texts. */
    for (uint32_t i = 0; i < options->inputs.len; i++) {
        const Input *input = &options->inputs.at[i];
        if (input->kind != INPUT_SOURCE) continue;
        if (!source_load(&session->sources, session->diags, input->text, nowhere)) unread = true;
    }
    if (unread) return STATUS_USAGE;
    if (diags_errors(session->diags)) return STATUS_ERROR;

    diag_report(session->diags, DIAG_NOT_IMPLEMENTED, nowhere, "nothing is compiled yet");
    return STATUS_FAULT;
}
