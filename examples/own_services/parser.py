"""A parser of your own, as a service that speaks docling-serve: `PENSTOCK_DOCLING_URL=http://127.0.0.1:8091`."""

from uuid import uuid4

from fastapi import FastAPI, Form, HTTPException, UploadFile

app = FastAPI()
done: dict[str, dict[str, object]] = {}


def to_markdown(content: bytes) -> list[str]:
    """Put your parser here: Markdown, one text per page."""
    return content.decode("latin-1", "replace").split("\f")


@app.post("/v1/convert/file/async")
async def convert(files: UploadFile, md_page_break_placeholder: str = Form("")) -> dict[str, str]:
    task_id = str(uuid4())
    try:
        pages = to_markdown(await files.read())
        text = md_page_break_placeholder.join(pages)
        done[task_id] = {"status": "success", "document": {"md_content": text}, "errors": []}
    except ValueError as error:
        done[task_id] = {"status": "failure", "document": None, "errors": [{"error_message": str(error)}]}
    return {"task_id": task_id}


@app.get("/v1/status/poll/{task_id}")
async def status(task_id: str) -> dict[str, str]:
    return {"task_status": "success" if task_id in done else "pending"}


@app.get("/v1/result/{task_id}")
async def result(task_id: str) -> dict[str, object]:
    if task_id not in done:
        raise HTTPException(404, "no such task")
    return done.pop(task_id)
